import { invalidField } from "../../domain/failure.ts";
import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import type { GitHostSource, Repository } from "../../domain/githost/repository.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { type Listing, type Page, pageOf } from "../../domain/page.ts";
import { isGitName } from "../../domain/projects/project.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import type { ReachRepositoryPorts } from "./reach_repository.ts";
import { throughAll } from "./through_all.ts";
import { notConnected, usableSources } from "./usable_sources.ts";

export interface ListRepositoriesPorts extends ReachRepositoryPorts {
  readonly gitRepositories: GitRepositories;
}

/** A repository, with the source that shows it. */
export interface SourcedRepository extends Repository {
  readonly source: GitHostSource;
}

/** Filter of a repository list. */
export interface RepositoryFilter {
  readonly owner?: string | undefined;
  /** Only full names and descriptions that contain this text, ignoring case. */
  readonly search?: string | undefined;
}

/**
 * Lists the repositories of all sources that the member may see, each once, with the source of highest preference. A
 * source that fails fails the list: it would look as if repositories were gone.
 */
export function listRepositories(ports: ListRepositoriesPorts) {
  const all = allRepositories(ports);
  return async function (
    by: Principal,
    { owner, search }: RepositoryFilter,
    page: Page,
    signal: AbortSignal,
  ): Promise<Listing<SourcedRepository>> {
    if (owner !== undefined && !isGitName(owner)) throw invalidField("owner", "this is not a valid name on a git host");
    const wanted = owner?.toLowerCase();
    const found = (await all(by, signal)).filter(
      (each) => (wanted ?? each.owner.toLowerCase()) === each.owner.toLowerCase(),
    );
    return pageOf(found, { ...page, search }, (each) => `${each.fullName} ${each.description ?? ""}`);
  };
}

/** Returns all repositories that a member may see, of all sources. Throws `githost_not_connected` without a source. */
export function allRepositories(ports: ListRepositoriesPorts) {
  const find = usableSources(ports);
  return async function (by: Principal, signal: AbortSignal): Promise<readonly SourcedRepository[]> {
    const sources = await find(by, signal);
    if (sources.length === 0) throw notConnected();
    const [linked, lists] = await Promise.all([
      ports.linkedProjects.repositories(by.organizationId),
      throughAll(sources, async ({ source, access }) => {
        const repositories = await ports.gitRepositories.list(access, signal);
        return repositories.map((each): SourcedRepository => ({ ...each, source }));
      }),
    ]);
    const sees = seesRepository(by, "githost:list", linked);
    const once = new Map<number, SourcedRepository>();
    for (const each of lists.flat()) {
      if (!once.has(each.id) && sees({ owner: each.owner, repo: each.name })) once.set(each.id, each);
    }
    return [...once.values()];
  };
}

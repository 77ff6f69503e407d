import { invalidField } from "../../domain/failure.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { isGitName } from "../../domain/projects/project.ts";
import type { SourcedRepository } from "./list_repositories.ts";
import { preferred, reachRepository } from "./reach_repository.ts";
import type { ReadRepositoryPorts } from "./read_repository.ts";
import { notConnected, usableSources } from "./usable_sources.ts";

/** A repository to create; without an owner, for the account that is connected. */
export interface NewRepository {
  readonly name: string;
  readonly private: boolean;
  readonly owner?: string | undefined;
}

/** Creates a repository on the git host. Never through the OAuth account of another member. */
export function createRepository(ports: ReadRepositoryPorts) {
  const find = usableSources(ports);
  return async function (by: Principal, wanted: NewRepository, signal: AbortSignal): Promise<SourcedRepository> {
    const { name, owner } = wanted;
    if (!isGitName(name)) throw invalidField("name", "this is not a valid name on a git host");
    if (owner !== undefined && !isGitName(owner)) throw invalidField("owner", "this is not a valid name on a git host");
    demand(by, "githost:write", { id: owner === undefined ? name : `${owner}/${name}` });
    const own = (await find(by, signal)).filter(({ isOwn }) => isOwn);
    // An app cannot create repositories for a user, only for an organization.
    const able = own.filter(({ source, account }) => source !== "app" || account?.type === "Organization");
    const [first] = owner === undefined ? able.filter(({ source }) => source !== "app") : fitting(able, owner);
    if (!first) throw own.length === 0 ? notConnected() : invalidField("owner", "no connected account can create here");
    const repository = await ports.gitRepositories.create(first.access, wanted, signal);
    return { ...repository, source: first.source };
  };
}

/** Sorts the sources that may create a repository for an owner; an installation only for its own account. */
function fitting(sources: Parameters<typeof preferred>[0], owner: string) {
  const others = sources.filter(
    ({ account }) => account === undefined || account.login.toLowerCase() === owner.toLowerCase(),
  );
  return preferred(others, { owner, repo: "" });
}

/** Deletes a repository on the git host. Projects that are linked to it stay. */
export function removeRepository(ports: ReadRepositoryPorts) {
  const reach = reachRepository(ports);
  return async function (by: Principal, name: RepositoryName, signal: AbortSignal): Promise<void> {
    await reach(
      by,
      { name, permission: "githost:admin" },
      (access) => ports.gitRepositories.remove(access, name, signal),
      signal,
    );
  };
}

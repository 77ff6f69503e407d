import { repositoryNotFound } from "../../domain/githost/host_failures.ts";
import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { isGitName, type ProjectSettings, type ProjectSettingsChange } from "../../domain/projects/project.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import { preferred, type ReachRepositoryPorts, throughSources } from "../githost/reach_repository.ts";
import { usableSources } from "../githost/usable_sources.ts";

export interface NameRepositoryPorts extends ReachRepositoryPorts {
  readonly gitRepositories: GitRepositories;
}

/**
 * Checks that the member can see the repository of the git host in a settings change, and adds to the change whether it
 * could be checked: builds then use the connection of the organization. While the git host is not connected, any
 * repository can be linked, and is cloned as the public sees it.
 */
export function nameRepository(ports: NameRepositoryPorts) {
  const find = usableSources(ports);
  return async function (
    by: Principal,
    change: ProjectSettingsChange,
    before: ProjectSettings = {},
  ): Promise<ProjectSettingsChange> {
    if (change.gitOwner === undefined && change.gitRepo === undefined) return change;
    const { gitOwner: owner = before.gitOwner, gitRepo: repo = before.gitRepo } = change;
    const isSame = owner === before.gitOwner && repo === before.gitRepo;
    if (!owner || !repo || !isGitName(owner) || !isGitName(repo)) return { ...change, ...(isSame ? {} : UNCHECKED) };
    if (isSame && before.gitAccess) return change;
    const { signal } = new AbortController();
    const name = { owner, repo };
    const sources = await find(by, signal);
    if (sources.length === 0) return { ...change, gitOwner: owner, gitRepo: repo, ...UNCHECKED };
    const { value } = await throughSources(name, preferred(sources, name), (access) =>
      ports.gitRepositories.find(access, name, signal),
    );
    const linked = await ports.linkedProjects.repositories(by.organizationId);
    // Both names are written, so that a concurrent change cannot combine one of them with another.
    const both = { ...change, gitOwner: owner, gitRepo: repo };
    if (!seesRepository(by, "githost:read", linked)(name)) {
      if (value.private) throw repositoryNotFound(name);
      // Cloned as the public sees it, so that its submodules show no more than that.
      return { ...both, ...UNCHECKED };
    }
    const seesAll = seesRepository(by, "githost:read", [])({ owner, repo: "*" });
    return { ...both, gitAccess: true, gitSubmodules: seesAll || null };
  };
}

const UNCHECKED = { gitAccess: null, gitSubmodules: null } as const;

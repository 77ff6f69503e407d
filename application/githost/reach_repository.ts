import { Failure } from "../../domain/failure.ts";
import { repositoryNotFound } from "../../domain/githost/host_failures.ts";
import { seesRepository } from "../../domain/githost/repository_visibility.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Permission, Principal } from "../../domain/identity/permission.ts";
import { isGitName } from "../../domain/projects/project.ts";
import type { LinkedProjects } from "../../ports/githost/linked_projects.ts";
import {
  isLoginExpired,
  notConnected,
  usableSources,
  type UsableSource,
  type UsableSourcesPorts,
} from "./usable_sources.ts";

export interface ReachRepositoryPorts extends UsableSourcesPorts {
  readonly linkedProjects: LinkedProjects;
}

/** A repository that a member wants to use, with the permission that this needs. */
export interface RepositoryRequest {
  readonly name: RepositoryName;
  readonly permission: Permission;
}

/** What a source returned, and which one it was. */
export interface Reached<T> {
  readonly value: T;
  readonly source: UsableSource["source"];
}

/**
 * Uses a repository through the first source that can see it, if the member may see it. A repository that the member's
 * role hides is missing, as is one that no source can see.
 */
export function reachRepository(ports: ReachRepositoryPorts) {
  const find = usableSources(ports);
  const check = checkVisible(ports);
  return async function <T>(
    by: Principal,
    { name, permission }: RepositoryRequest,
    use: (access: UsableSource["access"]) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Reached<T>> {
    await check(by, { name, permission });
    const sources = await find(by, signal);
    if (sources.length === 0) throw notConnected();
    return throughSources(name, preferred(sources, name), use);
  };
}

/** Throws `repository_not_found` for a repository that the member's role hides, or whose name cannot exist. */
export function checkVisible({ linkedProjects }: Pick<ReachRepositoryPorts, "linkedProjects">) {
  return async function (by: Principal, { name, permission }: RepositoryRequest): Promise<void> {
    if (!isGitName(name.owner) || !isGitName(name.repo)) throw repositoryNotFound(name);
    const linked = await linkedProjects.repositories(by.organizationId);
    if (!seesRepository(by, permission, linked)(name)) throw repositoryNotFound(name);
  };
}

/** Sorts the app installation on the repository's owner first; installations on other accounts cannot help. */
export function preferred(sources: readonly UsableSource[], { owner }: RepositoryName): readonly UsableSource[] {
  const isOwners = ({ account }: UsableSource) => account?.login.toLowerCase() === owner.toLowerCase();
  return [
    ...sources.filter(isOwners),
    ...sources.filter(({ source }) => source !== "app"),
    ...sources.filter((each) => each.source === "app" && !isOwners(each)),
  ];
}

/**
 * Tries sources in order until one can see the repository. Rejects with the first failure that says more than that the
 * repository is missing.
 */
export async function throughSources<T>(
  name: RepositoryName,
  sources: readonly UsableSource[],
  use: (access: UsableSource["access"]) => Promise<T>,
): Promise<Reached<T>> {
  let expired: unknown;
  for (const { source, access } of sources) {
    try {
      return { value: await use(access), source };
    } catch (error) {
      if (isLoginExpired(error)) expired ??= error;
      else if (!(error instanceof Failure) || error.code !== "repository_not_found") throw error;
    }
  }
  throw expired ?? repositoryNotFound(name);
}

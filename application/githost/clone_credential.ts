import { Failure } from "../../domain/failure.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import { isGitName, type Project } from "../../domain/projects/project.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitRepositories } from "../../ports/githost/git_repositories.ts";
import { preferred } from "./reach_repository.ts";
import { type SourceUser, usableSources, type UsableSourcesPorts } from "./usable_sources.ts";

export interface CloneCredentialPorts extends UsableSourcesPorts {
  readonly githostUrl: string;
  readonly gitRepositories: GitRepositories;
}

/** A repository that is cloned, for whom, and the account whose repositories it may refer to as submodules. */
export interface CloneRequest {
  readonly url: string;
  readonly owner: string;
  readonly user: SourceUser;
}

/**
 * Returns the credential to clone a repository of the git host with: a token for this repository alone where the app is
 * installed on it, else the token of another source. `undefined` for repositories of other accounts and hosts, which are
 * cloned as the public sees them.
 */
export function cloneCredential(ports: CloneCredentialPorts) {
  const find = usableSources(ports);
  return async function ({ url, owner, user }: CloneRequest, signal: AbortSignal): Promise<Secret | undefined> {
    const name = repositoryAt(ports.githostUrl, url);
    if (!name || name.owner.toLowerCase() !== owner.toLowerCase()) return undefined;
    for (const { access, account } of preferred(await find(user, signal), name)) {
      if (access.kind === "token") return access.token;
      if (account?.login.toLowerCase() !== owner.toLowerCase()) continue;
      const minted = await ports.gitRepositories.cloneToken(access.installationId, name, signal).catch(ifHidden);
      if (minted) return minted.token;
    }
    return undefined;
  };
}

/** A repository that a build clones: what the deployment is built from, or a submodule of it. */
export interface BuildClone {
  readonly url: string;
  /** The source of the deployment. */
  readonly sourceUrl: string;
}

/**
 * Returns the credentials for the builds of a project: for the repository that it is linked to now, if somebody who sees it
 * has linked it, and for submodules of the same owner, if that was somebody who sees all of the owner's repositories.
 */
export function projectCredential(ports: CloneCredentialPorts) {
  const credential = cloneCredential(ports);
  return async function (
    { organizationId, settings }: Project,
    { url, sourceUrl }: BuildClone,
    signal: AbortSignal,
  ): Promise<Secret | undefined> {
    const { gitAccess, gitOwner, gitRepo, gitSubmodules } = settings;
    if (!gitAccess || gitOwner === undefined || gitRepo === undefined) return undefined;
    // A deployment that is built again may come from what the project was linked to before.
    if (sourceUrl !== `${ports.githostUrl}/${gitOwner}/${gitRepo}.git`) return undefined;
    if (url !== sourceUrl && !gitSubmodules) return undefined;
    return credential({ url, owner: gitOwner, user: { organizationId, userId: null } }, signal);
  };
}

/** Another source may see what the app was not installed on. */
function ifHidden(error: unknown): undefined {
  if (error instanceof Failure && error.code === "repository_not_found") return undefined;
  throw error;
}

/** Returns the repository of the git host at an address. */
function repositoryAt(githostUrl: string, url: string): RepositoryName | undefined {
  if (!url.startsWith(`${githostUrl}/`)) return undefined;
  const [, owner = "", repo = ""] = /^([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(url.slice(githostUrl.length + 1)) ?? [];
  return isGitName(owner) && isGitName(repo) ? { owner, repo } : undefined;
}

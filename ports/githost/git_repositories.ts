import type { Branch, FileEntry, Repository, RepositoryFile, RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "./host_access.ts";

/** A place in a repository. Without a branch, its default branch. */
export interface RepositoryPath {
  readonly path: string;
  readonly branch?: string | undefined;
}

/**
 * The repositories on the git host.
 *
 * Every method rejects with a `Failure`: `not_found` (code `repository_not_found`, or `branch_not_found` and
 * `file_not_found` where the repository exists) for what this access cannot see, and for names that no repository, branch
 * or file can have; `invalid` (code `githost_login_expired`) for a token that the host refuses and for an installation
 * that it does not have, which have to be connected again; `invalid` (code `githost_refused`) with the host's words for
 * what the host refuses: input, missing rights, a suspended installation; `unavailable` (code `githost_rate_limited`, with
 * `retryAfter`) for a rate limit that does not end within 30 s, which is waited for; `unavailable` (code
 * `githost_not_configured`) where the settings of the app are missing or the host refuses them; `remote_failed` (code
 * `githost_failed`) for a host that is unreachable, does not answer in time, or answers nonsense or an error of its own.
 * No message contains a token. Aborting the signal rejects with its reason.
 */
export interface GitRepositories {
  /** Returns all repositories that this access can see, of every page of the host, in the host's order. */
  list(access: HostAccess, signal: AbortSignal): Promise<readonly Repository[]>;
  find(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<Repository>;
  /**
   * Creates an empty repository with a first commit. An owner that is not the user itself is an organization. Without an
   * owner it belongs to the user, or to the account of the installation.
   */
  create(
    access: HostAccess,
    repository: { readonly owner?: string | undefined; readonly name: string; readonly private: boolean },
    signal: AbortSignal,
  ): Promise<Repository>;
  remove(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<void>;
  /** Returns all branches, of every page of the host. */
  branches(access: HostAccess, name: RepositoryName, signal: AbortSignal): Promise<readonly Branch[]>;
  /** Lists a folder whole, `""` for the root. A path that is a file is `file_not_found`. */
  files(
    access: HostAccess,
    name: RepositoryName,
    at: RepositoryPath,
    signal: AbortSignal,
  ): Promise<readonly FileEntry[]>;
  /**
   * Reads a file; a folder, a submodule and a symlink that leads nowhere are `file_not_found`. Rejects with `too_large`
   * (code `file_too_large`) beyond `MAX_FILE_BYTES`.
   */
  file(access: HostAccess, name: RepositoryName, at: RepositoryPath, signal: AbortSignal): Promise<RepositoryFile>;
  /**
   * Returns a new token that can only read the contents of this repository, for less than an hour. Needs the app, which
   * must be installed on the repository.
   */
  cloneToken(
    installationId: number,
    name: RepositoryName,
    signal: AbortSignal,
  ): Promise<{ readonly token: Secret; readonly expiresAt: Date }>;
}

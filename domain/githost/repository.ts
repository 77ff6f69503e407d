/** How Slipway reaches the git host. */
export const GIT_HOST_SOURCES = ["app", "oauth", "cli"] as const;

export type GitHostSource = (typeof GIT_HOST_SOURCES)[number];

/** A user or an organization on the git host. */
export interface GitAccount {
  readonly login: string;
  readonly id: number;
  readonly type: "User" | "Organization";
  readonly avatarUrl: string | null;
}

/** Names one repository of the git host. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** A repository of the git host. */
export interface Repository {
  readonly id: number;
  readonly name: string;
  readonly fullName: string;
  readonly owner: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  readonly description: string | null;
  readonly language: string | null;
  readonly htmlUrl: string;
  readonly cloneUrl: string;
  readonly pushedAt: Date | null;
}

/** A branch with its latest commit. */
export interface Branch {
  readonly name: string;
  readonly sha: string;
  readonly protected: boolean;
}

/** An entry of a folder in a repository. */
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly type: "file" | "dir" | "symlink" | "submodule";
  readonly size: number;
  readonly sha: string;
}

/** A file of a repository. */
export interface RepositoryFile {
  readonly path: string;
  readonly sha: string;
  readonly size: number;
  readonly bytes: Uint8Array;
}

/** The largest file that is read through the git host's API, in bytes. */
export const MAX_FILE_BYTES = 1_048_576;

/** Returns the full name of a repository. */
export function fullName({ owner, repo }: RepositoryName): string {
  return `${owner}/${repo}`;
}

/** Returns whether two names are those of one repository; git hosts compare them without case. */
export function isSameRepository(one: RepositoryName, other: RepositoryName): boolean {
  return fullName(one).toLowerCase() === fullName(other).toLowerCase();
}

import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { GitAccount, RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { CommitFiles } from "../support/peers/git_server.ts";

type MaybePromise<T> = T | Promise<T>;

/** Contents of a branch by path. */
export type HostFiles = Readonly<Record<string, Exclude<CommitFiles[string], null> | { readonly submodule: string }>>;

/** A repository to put on a git host under test. Private by default. */
export interface HostRepositorySpec {
  readonly owner: string;
  readonly name: string;
  readonly private?: boolean;
  readonly description?: string | null;
  readonly language?: string | null;
  /** Files by branch; the first one is the default branch. Defaults to an empty branch `main`. */
  readonly branches?: Readonly<Record<string, HostFiles>>;
  readonly protectedBranches?: readonly string[];
}

/** What a git host does with every request: nothing answers, or its rate limit is used up. */
export type HostFault = "down" | { readonly rateLimitedForSeconds: number };

/** A comment on a pull request of a git host under test. */
export interface HostComment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
}

/** A git host that tests set up: `MemoryGitHostState`, or an emulated host. */
export interface GitHostSetup {
  addAccount(login: string, type?: GitAccount["type"]): MaybePromise<GitAccount>;
  addMember(organization: string, login: string, role?: "admin" | "member"): MaybePromise<void>;
  /** Issues a token of a user. Without scopes, it may do everything that the user may. */
  issueToken(login: string, options?: { readonly scopes?: readonly string[] }): MaybePromise<Secret>;
  revokeToken(token: Secret): MaybePromise<void>;
  addRepository(spec: HostRepositorySpec): MaybePromise<unknown>;
  /** Returns the commit at the tip of a branch. */
  tipOf(name: RepositoryName, branch: string): MaybePromise<string>;
  /** Returns all statuses that were set for a commit, oldest first. */
  statusesOf(name: RepositoryName, sha: string): MaybePromise<readonly CommitStatus[]>;
  /** Opens a pull request from a branch of the repository, or from one of a fork. */
  openPullRequest(
    name: RepositoryName,
    head: { readonly branch: string; readonly fork?: RepositoryName },
  ): MaybePromise<{ readonly number: number }>;
  /** Adds a comment to a pull request. Returns its id. */
  addComment(
    name: RepositoryName,
    number: number,
    comment: { readonly author: string; readonly body: string },
  ): MaybePromise<number>;
  removeComment(name: RepositoryName, id: number): MaybePromise<void>;
  /** Returns the comments on a pull request, oldest first. The app comments as `slipway[bot]`. */
  commentsOf(name: RepositoryName, number: number): MaybePromise<readonly HostComment[]>;
  /** Installs the app on an account, on all its repositories or on those with these names. Returns its id. */
  install(account: string, repositories?: "all" | readonly string[]): MaybePromise<number>;
  suspend(id: number, suspended: boolean): MaybePromise<void>;
  uninstall(id: number): MaybePromise<void>;
  /** Lets a user authorize the app. Returns the code for the callback. */
  authorize(login: string): MaybePromise<string>;
  decideDevice(userCode: string, decision: { readonly login: string } | "denied" | "expired"): MaybePromise<void>;
  fail(fault: HostFault | null): MaybePromise<void>;
}

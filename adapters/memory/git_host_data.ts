import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { HostHook } from "../../domain/githost/host_hook.ts";
import type { Repository } from "../../domain/githost/repository.ts";
import type { HookSettings } from "../../ports/githost/git_hooks.ts";
import type { MemoryComment, MemoryPullRequest } from "./host_pull_requests.ts";

/** Contents of a branch by path. */
export type MemoryFiles = Readonly<
  Record<string, string | Uint8Array | { readonly link: string } | { readonly submodule: string }>
>;

/** A repository to put on the simulated git host. */
export interface MemoryRepositorySpec {
  readonly owner: string;
  readonly name: string;
  /** Defaults to `true`. */
  readonly private?: boolean;
  readonly description?: string | null;
  readonly language?: string | null;
  /** Files by branch. Defaults to an empty branch `main`; the first branch is the default one. */
  readonly branches?: Readonly<Record<string, MemoryFiles>>;
  readonly protectedBranches?: readonly string[];
}

/** A branch of a simulated repository. */
export interface MemoryBranch {
  readonly sha: string;
  readonly protected: boolean;
  readonly files: MemoryFiles;
}

/** A repository of the simulated git host. */
export interface MemoryRepository {
  readonly repository: Repository;
  readonly branches: Map<string, MemoryBranch>;
  readonly hooks: Map<number, HostHook & { readonly settings: HookSettings }>;
  /** All statuses that were set, oldest first, by commit; commits that are not at the tip of a branch are listed here. */
  readonly statuses: Map<string, CommitStatus[]>;
  readonly pulls: Map<number, MemoryPullRequest>;
  /** The comments on all pull requests by id, oldest first. */
  readonly comments: Map<number, MemoryComment>;
}

/** What the simulated git host does with every request: nothing answers, or its rate limit is used up. */
export type MemoryGitHostFault = "down" | { readonly rateLimitedForSeconds: number };

/** The owner of a token, with the token's scopes. */
export interface MemoryTokenOwner {
  readonly login: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

/** Where the app is installed, with the repositories that it may use. */
export interface MemoryInstallation extends HostInstallation {
  readonly repositories: "all" | readonly string[];
}

/** A login by a code that a user enters elsewhere. */
export interface MemoryDeviceLogin {
  readonly userCode: string;
  state: "pending" | "denied" | "expired" | { readonly login: string };
}

/** What a git host adds to the description of a new repository. */
interface NewRepository {
  readonly id: number;
  readonly url: string;
  readonly pushedAt: Date;
  readonly shaOf: (branch: string) => string;
}

/** Returns a new repository without hooks, statuses and pull requests. */
export function repositoryOf(
  spec: MemoryRepositorySpec,
  { id, pushedAt, shaOf, url }: NewRepository,
): MemoryRepository {
  const branches = Object.entries(spec.branches ?? { main: {} });
  const isProtected = new Set(spec.protectedBranches);
  return {
    repository: {
      id,
      name: spec.name,
      fullName: `${spec.owner}/${spec.name}`,
      owner: spec.owner,
      private: spec.private ?? true,
      defaultBranch: branches[0]?.[0] ?? "main",
      description: spec.description ?? null,
      language: spec.language ?? null,
      htmlUrl: url,
      cloneUrl: `${url}.git`,
      pushedAt,
    },
    branches: new Map(
      branches.map(([name, files]) => [name, { sha: shaOf(name), protected: isProtected.has(name), files }]),
    ),
    hooks: new Map(),
    statuses: new Map(),
    pulls: new Map(),
    comments: new Map(),
  };
}

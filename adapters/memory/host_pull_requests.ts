/** The longest comment that the git host accepts, in characters. */
export const MAX_COMMENT = 65_536;

/** Who the app comments as. */
export const APP_AUTHOR = "slipway[bot]";

/** A pull request of a simulated repository. */
export interface MemoryPullRequest {
  readonly number: number;
  /** The id of the repository that the branch belongs to: the same one, or a fork. */
  readonly repositoryId: number;
  readonly branch: string;
  /** All commits that the branch has led to, the newest last. */
  readonly heads: string[];
}

/** A comment on a pull request of a simulated repository. */
export interface MemoryComment {
  readonly id: number;
  /** The number of the pull request. */
  readonly number: number;
  readonly author: string;
  readonly body: string;
}

/** Lets pull requests show the commits that the branches of a repository lead to. Returns those that changed. */
export function followBranches<Base extends { readonly pulls: ReadonlyMap<number, MemoryPullRequest> }>(
  bases: Iterable<Base>,
  head: {
    readonly repository: { readonly id: number };
    readonly branches: ReadonlyMap<string, { readonly sha: string }>;
  },
): readonly { readonly base: Base; readonly pull: MemoryPullRequest }[] {
  const changed = [];
  for (const base of bases) {
    for (const pull of base.pulls.values()) {
      const tip = pull.repositoryId === head.repository.id ? head.branches.get(pull.branch)?.sha : undefined;
      if (tip === undefined || tip === pull.heads.at(-1)) continue;
      pull.heads.push(tip);
      changed.push({ base, pull });
    }
  }
  return changed;
}

/** Returns whether a repository has a commit. */
export function hasCommit(
  repository: {
    readonly branches: ReadonlyMap<string, { readonly sha: string }>;
    readonly pulls: ReadonlyMap<number, MemoryPullRequest>;
    readonly statuses: ReadonlyMap<string, unknown>;
  },
  sha: string,
): boolean {
  const { branches, pulls, statuses } = repository;
  const isTip = branches.values().some((branch) => branch.sha === sha);
  return isTip || statuses.has(sha) || pulls.values().some(({ heads }) => heads.includes(sha));
}

import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { HostAccess } from "./host_access.ts";

/** A comment on a pull request that is kept up to date. */
export interface PullRequestComment {
  /** Markdown that begins with the marker. */
  readonly body: string;
  /** A text by which the comment is found again if its id was lost. */
  readonly marker: string;
  /** The id of the comment, if it is known. */
  readonly commentId: number | null;
}

/** Comments on pull requests on the git host. */
export interface PullRequestComments {
  /**
   * Writes the comment: changes the one with this id, else the oldest one that begins with the marker, else adds one, also
   * if somebody has deleted it. A comment that this access may not change does not count. Returns its id. Rejects as the
   * methods of `GitRepositories` do: `githost_refused` also where this access may not comment. A pull request that the
   * repository does not have is `not_found`, code `pull_request_not_found`.
   */
  put(
    access: HostAccess,
    name: RepositoryName,
    number: number,
    comment: PullRequestComment,
    signal: AbortSignal,
  ): Promise<number>;
}

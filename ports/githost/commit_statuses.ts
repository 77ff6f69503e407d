import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { HostAccess } from "./host_access.ts";

/** The statuses of commits on the git host. */
export interface CommitStatuses {
  /**
   * Sets the status of a commit for the context that it names. Rejects as the methods of `GitRepositories` do:
   * `githost_refused` also where this access may not set statuses. A commit that the repository does not have is
   * `not_found`, code `commit_not_found`.
   */
  put(access: HostAccess, name: RepositoryName, sha: string, status: CommitStatus, signal: AbortSignal): Promise<void>;
}

import { type CommitStatus, MAX_DESCRIPTION } from "../../domain/githost/commit_status.ts";
import { commitNotFound, refusedByHost } from "../../domain/githost/host_failures.ts";
import { fullName, type RepositoryName } from "../../domain/githost/repository.ts";
import type { CommitStatuses } from "../../ports/githost/commit_statuses.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { MemoryGitHostState } from "./git_host.ts";
import { hasCommit } from "./host_pull_requests.ts";

/** The statuses of commits of a git host in memory. */
export class MemoryCommitStatuses implements CommitStatuses {
  readonly #host: MemoryGitHostState;

  constructor(host: MemoryGitHostState) {
    this.#host = host;
  }

  async put(
    access: HostAccess,
    name: RepositoryName,
    sha: string,
    ...[status, signal]: [CommitStatus, AbortSignal]
  ): Promise<void> {
    this.#host.enterAs(access, signal);
    const action = `set the status of a commit of "${fullName(name)}"`;
    const found = this.#host.visible(access, name);
    const { repository, statuses } = found;
    if (!this.#host.mayReport(access, repository)) throw refusedByHost(action, "this login may not set it");
    if (!hasCommit(found, sha)) throw commitNotFound(name, sha);
    if (status.description.length > MAX_DESCRIPTION)
      throw refusedByHost(action, `description is too long (maximum is ${MAX_DESCRIPTION} characters)`);
    statuses.set(sha, [...(statuses.get(sha) ?? []), { ...status }]);
  }
}

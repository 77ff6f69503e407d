import type { Failure } from "../../domain/failure.ts";
import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { CommitStatuses } from "../../ports/githost/commit_statuses.ts";
import type { UsableSourcesPorts } from "./usable_sources.ts";
import { writeToRepository } from "./write_to_repository.ts";

export interface SetCommitStatusPorts extends UsableSourcesPorts {
  readonly commitStatuses: CommitStatuses;
}

/** A commit with the status that it gets. */
export interface CommitStatusChange {
  readonly name: RepositoryName;
  readonly sha: string;
  readonly status: CommitStatus;
}

/**
 * Sets the status of a commit through the first source of an organization that may do it. Returns why none may, or that
 * there is no such commit; rejects if the git host fails.
 */
export function setCommitStatus(ports: SetCommitStatusPorts) {
  const write = writeToRepository(ports);
  return async function (
    organizationId: string,
    { name, sha, status }: CommitStatusChange,
    signal: AbortSignal,
  ): Promise<Failure | undefined> {
    const put = (access: Parameters<CommitStatuses["put"]>[0]) =>
      ports.commitStatuses.put(access, name, sha, status, signal);
    const written = await write(organizationId, name, put, signal);
    return "refusal" in written ? written.refusal : undefined;
  };
}

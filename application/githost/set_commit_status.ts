import { Failure } from "../../domain/failure.ts";
import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { CommitStatuses } from "../../ports/githost/commit_statuses.ts";
import { preferred } from "./reach_repository.ts";
import { notConnected, usableSources, type UsableSourcesPorts } from "./usable_sources.ts";

export interface SetCommitStatusPorts extends UsableSourcesPorts {
  readonly commitStatuses: CommitStatuses;
}

/** A commit with the status that it gets. */
export interface CommitStatusChange {
  readonly name: RepositoryName;
  readonly sha: string;
  readonly status: CommitStatus;
}

/** Means that another source may be allowed what this one is not. */
const REFUSALS: ReadonlySet<string> = new Set([
  "githost_login_expired",
  "githost_not_configured",
  "githost_refused",
  "repository_not_found",
]);

/**
 * Sets the status of a commit through the first source of an organization that may do it. Returns why none may, or that
 * there is no such commit; rejects if the git host fails.
 */
export function setCommitStatus(ports: SetCommitStatusPorts) {
  const findSources = usableSources(ports);
  return async function (
    organizationId: string,
    { name, sha, status }: CommitStatusChange,
    signal: AbortSignal,
  ): Promise<Failure | undefined> {
    let refusal: Failure | undefined;
    const sources = await findSources({ organizationId, userId: null }, signal);
    for (const { access, account } of preferred(sources, name)) {
      if (account && account.login.toLowerCase() !== name.owner.toLowerCase()) continue;
      try {
        await ports.commitStatuses.put(access, name, sha, status, signal);
        return undefined;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (error.code === "commit_not_found") return error;
        if (!REFUSALS.has(error.code)) throw error;
        refusal ??= error;
      }
    }
    return refusal ?? notConnected();
  };
}

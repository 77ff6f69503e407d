import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";

/** A claim on reporting the status of a deployment to its commit on the git host. */
export interface CommitReport extends Pick<Deployment, "projectId" | "environment"> {
  readonly commitSha: string;
  /** The newest deployment of this commit. */
  readonly deploymentId: string;
  readonly status: DeploymentStatus;
  /** How often reporting this status has failed. */
  readonly failures: number;
  /** A fencing token, because every take increments it. */
  readonly attempt: number;
}

/**
 * The statuses of deployments that have to be reported to the git host: an outbox, one entry for each project,
 * environment and commit.
 *
 * Storing a deployment with a commit enters it together with the deployment, whenever its status is new or its commit
 * has become known, if its source is a repository and its project is a local one that may use the git host. Only the
 * current status of the newest deployment of a commit is kept, so that a former one is never reported after it. Entries
 * go with their deployment. All times are by the clock of the store, which all processes share.
 */
export interface CommitReports {
  /** Takes the entry that has been due for longest, for `leaseMs`: of several callers, one gets it. */
  take(leaseMs: number): Promise<CommitReport | undefined>;
  /**
   * Records that a status was reported or needs no report. The entry is due again at once if the status has changed
   * since it was taken. It also is if the lease was lost, because reports of two processes may have arrived in any order.
   */
  finish(report: CommitReport): Promise<void>;
  /**
   * Makes a taken entry due again after `afterMs`, with so many failures; with none if its status has changed since. A
   * new status does not end the wait. Does nothing if the lease was lost.
   */
  retry(report: CommitReport, next: { readonly afterMs: number; readonly failures: number }): Promise<void>;
  /** Returns the milliseconds until an entry can be taken, at least 0; `null` if there is none. */
  nextDueMs(): Promise<number | null>;
  /** Calls the handler whenever there may be something new to take, in any process. Returns a function that unsubscribes. */
  onDue(handler: () => void): () => void;
}

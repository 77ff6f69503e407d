import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { Outbox, OutboxEntry } from "./outbox.ts";

/** A claim on reporting the status of a deployment to its commit on the git host. */
export interface CommitReport extends OutboxEntry, Pick<Deployment, "projectId" | "environment"> {
  readonly commitSha: string;
  /** The newest deployment of this commit. */
  readonly deploymentId: string;
  readonly status: DeploymentStatus;
}

/**
 * The statuses of deployments that have to be reported to the git host: one entry for each project, environment and
 * commit.
 *
 * Storing a deployment with a commit enters it together with the deployment, whenever its status is new or its commit
 * has become known, if its source is a repository and its project is a local one that may use the git host. Only the
 * current status of the newest deployment of a commit is kept, so that a former one is never reported after it. Entries
 * go with their deployment.
 */
export type CommitReports = Outbox<CommitReport>;

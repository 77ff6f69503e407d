import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Filter of a deployment list. */
export interface DeploymentFilter {
  /** Only deployments of these projects. Absent: all of the organization. */
  readonly projectIds?: readonly string[];
  /** Of these, only deployments of this project. */
  readonly projectId?: string;
  /** Also these deployments, whatever their project. */
  readonly ids?: readonly string[];
  /** Of all these, only those with this status, environment and exact branch. Absent: any. */
  readonly status?: DeploymentStatus;
  readonly environment?: Deployment["environment"];
  readonly branch?: string;
}

/** A deployment, and its position in the queue of its project. */
export interface PlacedDeployment extends QueuePosition {
  readonly deployment: Deployment;
}

/** The position of a deployment in the queue of its project. */
export interface QueuePosition {
  /** Whether it is its project's live release. */
  readonly active: boolean;
  /** The deployment that keeps this one in `queued`: one in `building`, in `deploying` or awaiting a decision. */
  readonly waitingFor: string | null;
}

/**
 * Reads deployments for display. Reading what has not changed since may return the same objects again, which is cheap.
 */
export interface DeploymentHistory {
  /** Finds a deployment of an organization that was not deleted. */
  find(organizationId: string, id: string): Promise<PlacedDeployment | undefined>;
  /** Newest first. */
  list(organizationId: string, filter: DeploymentFilter, page: Page): Promise<Listing<PlacedDeployment>>;
}

import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";

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

/** A change of a deployment and the events that report it, stored atomically. */
export interface DeploymentChange {
  readonly deployment: Deployment;
  readonly events: readonly NewEvent[];
  /** Replaces the stored environment. Absent: unchanged. */
  readonly environment?: ReadonlyMap<string, Secret>;
}

/** Stored together with a new deployment. */
export interface DeploymentContent {
  readonly environment: ReadonlyMap<string, Secret>;
  readonly events: readonly NewEvent[];
  /** Its services, where they are given. */
  readonly serviceSet?: ServiceSet;
}

/** Stores deployments, each with the environment that it is built and run with, encrypted. */
export interface Deployments {
  /**
   * Stores a new deployment with its environment, service set and first events, assigns the next `version` of its
   * project and returns it. A `ready` upload that is its source becomes `used`: by exactly one of several deployments,
   * and only if that one is stored. The others are refused with `upload_not_ready`.
   */
  create(deployment: Deployment, content: DeploymentContent): Promise<Deployment>;
  /** Finds a deployment of an organization that was not deleted. */
  find(organizationId: string, id: string): Promise<Deployment | undefined>;
  /** Finds a deployment by id alone, for the engine. */
  get(id: string): Promise<Deployment | undefined>;
  /** Finds a deployment of an organization, with its position. */
  findPlaced(organizationId: string, id: string): Promise<PlacedDeployment | undefined>;
  /** Newest first, each with its position. */
  list(organizationId: string, filter: DeploymentFilter, page: Page): Promise<Listing<PlacedDeployment>>;
  /** Returns all stored deployments of a project, newest first. */
  ofProject(projectId: string): Promise<readonly Deployment[]>;
  /**
   * Changes the deployment as currently stored. `how` may run again when another change came first, and returns
   * `undefined` to change nothing. Resolves to the resulting deployment, or `undefined` when there is none. Passes on
   * errors that `how` throws.
   */
  change(id: string, how: (deployment: Deployment) => DeploymentChange | undefined): Promise<Deployment | undefined>;
  /**
   * Returns the environment a deployment is built and run with. Empty before its build starts, unless it was created
   * with one.
   */
  environment(id: string): Promise<ReadonlyMap<string, Secret>>;
  /** Deletes a deployment with its events, environment and service set. Returns `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
}

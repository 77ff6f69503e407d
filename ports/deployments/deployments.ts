import type { Deployment, DeploymentStatus } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";

/** Which deployments a list shows. */
export interface DeploymentFilter {
  /** Only of these projects; absent: all of the organization. */
  readonly projectIds?: readonly string[];
  /** Of these, only those of this project. */
  readonly projectId?: string;
  /** These deployments too, whatever their project. */
  readonly ids?: readonly string[];
  /** Of all these, only those with this status, environment and exact branch; absent: any. */
  readonly status?: DeploymentStatus;
  readonly environment?: Deployment["environment"];
  readonly branch?: string;
}

/** A change of a deployment and the events that tell of it; they are stored together or not at all. */
export interface DeploymentChange {
  readonly deployment: Deployment;
  readonly events: readonly NewEvent[];
  /** Takes the place of the environment it has; absent: that stays. */
  readonly environment?: ReadonlyMap<string, Secret>;
}

/** What is stored with a new deployment. */
export interface DeploymentContent {
  readonly environment: ReadonlyMap<string, Secret>;
  readonly events: readonly NewEvent[];
  /** What it consists of, where that is given. */
  readonly serviceSet?: ServiceSet;
}

/** Where deployments are kept, with the environment that each is built and run with, sealed. */
export interface Deployments {
  /**
   * Stores a new deployment with its environment, service set and first events; gives it the next `version` of its project and returns it. A `ready` upload that it
   * is made of is `used` from then on: by exactly one of several deployments, and by none that is not stored. The others are refused with `upload_not_ready`.
   */
  create(deployment: Deployment, content: DeploymentContent): Promise<Deployment>;
  /** A deployment of an organization that was not deleted. */
  find(organizationId: string, id: string): Promise<Deployment | undefined>;
  /** A deployment by id alone, for the engine. */
  get(id: string): Promise<Deployment | undefined>;
  /** Newest first. */
  list(organizationId: string, filter: DeploymentFilter, page: Page): Promise<Listing<Deployment>>;
  /** All that are kept of a project, newest first. */
  ofProject(projectId: string): Promise<readonly Deployment[]>;
  /**
   * Changes a deployment as it is stored at that moment; `how` may run again when another change came first, and changes nothing by returning
   * `undefined`. Resolves to the deployment as it is then; `undefined` when there is none. What `how` throws is passed on.
   */
  change(id: string, how: (deployment: Deployment) => DeploymentChange | undefined): Promise<Deployment | undefined>;
  /** The environment a deployment is built and run with; empty before its build starts, unless it was created with one. */
  environment(id: string): Promise<ReadonlyMap<string, Secret>>;
  /** Removes a deployment with its events, environment and service set; `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
}

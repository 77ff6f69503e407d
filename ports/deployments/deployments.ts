import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";

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
  /** Returns all stored deployments of a project, newest first. */
  ofProject(projectId: string): Promise<readonly Deployment[]>;
  /**
   * Returns the deployments of all projects that name the files of one of these deployments, which may be deleted: as
   * their own, as those of a service, or as their source.
   */
  usingFilesOf(deploymentIds: readonly string[]): Promise<readonly Deployment[]>;
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

import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/**
 * Stores the service sets of deployments with several services, encrypted because they contain the values of variables.
 * A deployment's first set is stored when it is created.
 */
export interface ServiceSets {
  /** Returns a deployment's service set, or `undefined` for an unknown deployment or one with a single service. */
  read(deploymentId: string): Promise<ServiceSet | undefined>;
  /**
   * Stores or replaces a service set. Rejects with a `not_found` failure when there is no such deployment. With a void
   * claim, rejects with a `conflict` failure, code `claim_void`, and stores nothing.
   */
  write(deploymentId: string, serviceSet: ServiceSet, claim?: WorkClaim): Promise<void>;
}

import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { WorkClaim } from "./deployment_queue.ts";

/** What deployments of several services consist of, sealed, as it holds the values of their variables. A deployment brings its first one when it is created. */
export interface ServiceSets {
  /** What a deployment consists of; `undefined` for one that is not there or is no more than one service. */
  read(deploymentId: string): Promise<ServiceSet | undefined>;
  /**
   * Stores it in the place of what was there; rejects with a `not_found` failure when there is no such deployment. With a claim on it, rejects with a
   * `conflict` failure, code `claim_void`, where that is void, and stores nothing.
   */
  write(deploymentId: string, serviceSet: ServiceSet, claim?: WorkClaim): Promise<void>;
}

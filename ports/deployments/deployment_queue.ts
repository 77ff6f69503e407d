import type { Deployment } from "../../domain/deployments/deployment.ts";

/** A worker's right to carry out a deployment; it is void as soon as it was released, or anybody took the deployment again. */
export interface WorkClaim {
  readonly deploymentId: string;
  /** The process. */
  readonly owner: string;
  /** The `attempts` of the deployment when it was taken: a fencing token, as every take counts it up. */
  readonly attempt: number;
}

/** What a worker takes. */
export interface WorkRequest {
  /** The process. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly maxBuilds: number;
}

/**
 * Hands deployments to workers of any number of processes: none twice at a time, one of a project at a time, in order. Leases run by the clock of the
 * store, which is one for all processes.
 */
export interface DeploymentQueue {
  /**
   * Takes, in this order: one in `building`, `deploying` or `partial_failure` that is not held and has no living lease; else the oldest in `queued` that is
   * not held, of a project without another one in these three, unless `maxBuilds` that are not held are building over all. One in `partial_failure` is held
   * until somebody decided about it. The taken one is leased and returned as stored, its status untouched, `attempts` counted up.
   */
  take(request: WorkRequest): Promise<Deployment | undefined>;
  /** Leases a claimed deployment for so long from now on; `lost` when the claim is void, `cancel` when somebody asked to cancel, else `held`. */
  renew(claim: WorkClaim, leaseMs: number): Promise<"held" | "lost" | "cancel">;
  /** The held ones whose time is over: an unanswered prompt that expired, or in `queued` for longer than `heldMs`; a decision has all the time it wants. */
  overdue(heldMs: number): Promise<readonly string[]>;
  /** Gives a deployment back; nothing for a void claim. */
  release(claim: WorkClaim): Promise<void>;
  /**
   * Whether somebody took a deployment of a project and has not given it back. Whoever was killed has not either, until
   * the next one took it up and gave it back; where there is nothing to take up any more, until its lease ran out.
   */
  isTaken(projectId: string): Promise<boolean>;
  /**
   * Calls the handler whenever there may be something to take or to cancel, in any process: once for each deployment that is stored, changed to that effect,
   * given back or removed. Returns how to stop.
   */
  onWork(handler: () => void): () => void;
}

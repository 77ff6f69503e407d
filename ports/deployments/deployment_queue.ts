import type { Deployment } from "../../domain/deployments/deployment.ts";

/** A worker's claim on a deployment. It becomes void once it is released or any worker takes the deployment again. */
export interface WorkClaim {
  readonly deploymentId: string;
  /** The id of the process. */
  readonly owner: string;
  /** The deployment's `attempts` when it was taken: a fencing token, because every take increments it. */
  readonly attempt: number;
}

/** Input of `take`. */
export interface WorkRequest {
  /** The id of the process. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly maxBuilds: number;
}

/**
 * The work queue of deployments, for workers in any number of processes. A deployment goes to one worker at a time, and
 * a project's deployments run one at a time, in order. Leases use the clock of the store, which all processes share.
 */
export interface DeploymentQueue {
  /**
   * Takes a deployment, in this order: one in `building`, `deploying` or `partial_failure` that is not held and has no
   * live lease; else the oldest in `queued` that is not held, of a project without another one in these three states,
   * unless `maxBuilds` deployments that are not held are building overall. One in `partial_failure` is held until a
   * user decides. Leases the deployment and returns it as stored, with its status unchanged and `attempts` incremented.
   */
  take(request: WorkRequest): Promise<Deployment | undefined>;
  /**
   * Renews the lease of a claimed deployment for `leaseMs` from now. Returns `lost` when the claim is void, `cancel`
   * when cancellation was requested, else `held`.
   */
  renew(claim: WorkClaim, leaseMs: number): Promise<"held" | "lost" | "cancel">;
  /**
   * Returns held deployments that timed out: with an unanswered prompt that expired, or in `queued` for longer than
   * `heldMs`. A decision about a `partial_failure` has no deadline.
   */
  overdue(heldMs: number): Promise<readonly string[]>;
  /** Gives a deployment back to the queue. Does nothing when the claim is void. */
  release(claim: WorkClaim): Promise<void>;
  /**
   * Returns whether a worker has taken a deployment of a project and not released it. A killed worker counts until the
   * next one has taken its deployment over and released it; where nothing is left to take over, until its lease
   * expires.
   */
  isTaken(projectId: string): Promise<boolean>;
  /**
   * Calls the handler whenever there may be work to take or to cancel, in any process: once for each deployment that is
   * stored, changed to that effect, released or removed. Returns a function that unsubscribes.
   */
  onWork(handler: () => void): () => void;
}

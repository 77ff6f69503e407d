import type { WorkClaim } from "../../../ports/deployments/deployment_queue.ts";

/** Why a run is to stop. */
export type StopReason = "cancelled" | "lost" | "shutdown";

/** A run's hold on its deployment, which another process gets once the lease ran out. */
export interface Hold {
  readonly claim: WorkClaim;
  /** Ends the run, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Renews the lease, right before something outside the database is changed; rejects with `LeaseLost` once the claim is void. */
  confirm(): Promise<void>;
}

/** Thrown where a deployment is no longer a run's to change. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";

  constructor() {
    super("Another process goes on with this deployment, or it was ended");
  }
}

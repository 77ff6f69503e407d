import type { WorkClaim } from "../../../ports/deployments/deployment_queue.ts";

/** Why a run has to stop. */
export type StopReason = "cancelled" | "lost" | "shutdown";

/** A run's lease on its deployment. Another process may take the deployment once the lease has expired. */
export interface Hold {
  readonly claim: WorkClaim;
  /** Aborts the run, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Renews the lease, right before a change outside the database. Rejects with `LeaseLost` once the claim is void. */
  confirm(): Promise<void>;
}

/** Thrown when a run may no longer change its deployment. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";

  constructor() {
    super("Another process continues this deployment, or it has ended");
  }
}

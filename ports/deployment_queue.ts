import type { Deployment } from "../domain/deployment/deployment.ts";

/** Who works on what until when. */
export interface WorkLease {
  /** The process. */
  readonly owner: string;
  readonly at: Date;
  readonly leaseMs: number;
}

/** Hands deployments to workers of any number of processes: none twice at a time, one of a project at a time, in order. */
export interface DeploymentQueue {
  /**
   * Takes, in this order: one in `building`, `deploying` or `partial_failure` that is not held and has no living lease; else the oldest in `queued` that is
   * not held, of a project without another one in these three, unless `maxBuilds` that are not held are building over all. One in `partial_failure` is held
   * until somebody decided about it. The taken one is leased and returned as stored, its status untouched, `attempts` counted up.
   */
  take(lease: WorkLease & { readonly maxBuilds: number }): Promise<Deployment | undefined>;
  /** Keeps a lease; `lost` when another process has it, `cancel` when somebody asked to cancel, else `held`. */
  renew(id: string, lease: WorkLease): Promise<"held" | "lost" | "cancel">;
  /** The held ones whose time is over: an unanswered prompt that expired, or in `queued` for longer than `heldMs`; a decision has all the time it wants. */
  overdue(options: { readonly at: Date; readonly heldMs: number }): Promise<readonly string[]>;
  /** Gives a lease back. */
  release(id: string, owner: string): Promise<void>;
  /**
   * Whether somebody took a deployment of a project and has not given it back; whoever was killed has not either, until
   * the next one took it up and gave it back.
   */
  isTaken(projectId: string): Promise<boolean>;
  /** Calls the handler whenever there may be something to take or to cancel, in any process; returns how to stop. */
  onWork(handler: () => void): () => void;
  /** Says so, to all processes. */
  announce(): Promise<void>;
}

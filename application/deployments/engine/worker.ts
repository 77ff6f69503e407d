import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { expireHeld } from "../../../domain/deployments/requests.ts";
import { loggedError } from "../../../domain/logged_error.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { DeploymentQueue, WorkClaim } from "../../../ports/deployments/deployment_queue.ts";
import type { Deployments } from "../../../ports/deployments/deployments.ts";
import type { Log } from "../../../ports/system/log.ts";
import { copyUpload, keepUpload, type KeepUploadPorts } from "../cleanup/keep_upload.ts";
import { type Hold, type StopReason, LeaseLost } from "./hold.ts";

const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
const LOOK_MS = 1_000;
const HELD_MS = 24 * 3_600_000;

export interface WorkerPorts extends KeepUploadPorts {
  readonly clock: Clock;
  readonly deploymentQueue: DeploymentQueue;
  readonly deployments: Deployments;
  readonly log: Log;
}

export interface WorkerOptions {
  /** Runs one deployment. */
  readonly run: (deployment: Deployment, hold: Hold) => Promise<void>;
  readonly maxBuilds: number;
  /** A monotonic clock in milliseconds that also advances while this process is stopped. */
  readonly elapsedMs?: () => number;
}

/** A running worker. When it stops, the next worker takes its unfinished deployments. */
export interface Worker {
  stop(): Promise<void>;
}

/** Takes deployments from the queue and runs them, as many at once as allowed, until stopped. */
export function startWorker(ports: WorkerPorts, options: WorkerOptions): Worker {
  return new QueueWorker(ports, options);
}

/** A deployment that is being run. */
class Work implements Hold {
  readonly claim: WorkClaim;
  readonly #queue: DeploymentQueue;
  readonly #elapsedMs: () => number;
  readonly #stop = new AbortController();
  /** No other worker can take the deployment before this time. */
  #heldUntil: number;

  constructor(claim: WorkClaim, queue: DeploymentQueue, elapsedMs: () => number) {
    this.claim = claim;
    this.#queue = queue;
    this.#elapsedMs = elapsedMs;
    this.#heldUntil = elapsedMs() + LEASE_MS;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  stop(reason: StopReason): void {
    this.#stop.abort(reason);
  }

  async confirm(): Promise<void> {
    do await this.#renew();
    // A renewal that took longer than the lease lasts proves nothing about now.
    while (this.#elapsedMs() > this.#heldUntil);
  }

  /** Stops before the lease expires, so that two workers never run the same deployment. */
  stopWhenLate(): void {
    if (this.#elapsedMs() > this.#heldUntil - RENEW_MS) this.stop("lost");
  }

  async #renew(): Promise<void> {
    const requestedAt = this.#elapsedMs();
    const lease = await this.#queue.renew(this.claim, LEASE_MS);
    if (lease === "lost") {
      this.stop("lost");
      throw new LeaseLost();
    }
    if (lease === "cancel") this.stop("cancelled");
    this.#heldUntil = requestedAt + LEASE_MS;
  }
}

class QueueWorker implements Worker {
  readonly #ports: WorkerPorts;
  readonly #options: WorkerOptions;
  readonly #owner = crypto.randomUUID();
  /** A deployment that was lost and taken again is in here twice, until the first run has noticed. */
  readonly #running = new Map<Work, Promise<void>>();
  readonly #forget: () => void;
  readonly #loop: Promise<void>;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(ports: WorkerPorts, options: WorkerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#forget = ports.deploymentQueue.onWork(() => {
      this.#wake?.();
      for (const work of this.#running.keys()) void this.#renew(work);
    });
    this.#loop = this.#takeAll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forget();
    this.#wake?.();
    for (const work of this.#running.keys()) work.stop("shutdown");
    await this.#loop;
    await Promise.all(this.#running.values());
  }

  async #takeAll(): Promise<void> {
    while (!this.#stopped) {
      // Registered before the queue is read, so that no wake-up is missed.
      const called = new Promise<void>((resolve) => (this.#wake = resolve));
      const wanted = { owner: this.#owner, leaseMs: LEASE_MS, maxBuilds: this.#options.maxBuilds };
      const taken = await this.#attempt(() => this.#ports.deploymentQueue.take(wanted));
      if (taken) this.#begin(taken);
      else {
        await this.#attempt(() => endOverdue(this.#ports));
        await Promise.race([called, sleep(LOOK_MS)]);
      }
    }
  }

  #begin(deployment: Deployment): void {
    const { elapsedMs = () => performance.now() } = this.#options;
    const claim = { deploymentId: deployment.id, owner: this.#owner, attempt: deployment.attempts };
    const work = new Work(claim, this.#ports.deploymentQueue, elapsedMs);
    if (deployment.cancelRequested) work.stop("cancelled");
    if (this.#stopped) work.stop("shutdown");
    const renewal = setInterval(() => void this.#renew(work), RENEW_MS);
    const done = this.#attempt(() => this.#options.run(deployment, work)).then(async () => {
      clearInterval(renewal);
      if (work.signal.reason === ("lost" satisfies StopReason)) this.#tellLost(deployment);
      await this.#giveBack(claim);
      this.#running.delete(work);
    });
    this.#running.set(work, done);
  }

  /** Retries while the database is unavailable; once the lease has expired, the deployment is free anyway. */
  async #giveBack(claim: WorkClaim): Promise<void> {
    const until = performance.now() + LEASE_MS;
    const release = async () => {
      await this.#ports.deploymentQueue.release(claim);
      return true;
    };
    while (!(await this.#attempt(release))) if (this.#stopped || performance.now() > until) return;
  }

  #tellLost({ id }: Deployment): void {
    const message = "A deployment is left to another process: its lease could not be renewed in time";
    this.#ports.log.write("warn", message, { deploymentId: id });
  }

  async #renew(work: Work): Promise<void> {
    await this.#attempt(() => work.confirm());
    work.stopWhenLate();
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LeaseLost) return undefined;
      this.#ports.log.write("warn", "The worker hit an error and continues", { ...loggedError(error) });
      await sleep(200);
      return undefined;
    }
  }
}

/** Ends deployments that were not started or answered in time. */
async function endOverdue(ports: WorkerPorts): Promise<void> {
  const { clock, deploymentQueue, deployments } = ports;
  const at = clock.now();
  for (const id of await deploymentQueue.overdue(HELD_MS)) {
    const waiting = await deployments.get(id);
    if (waiting?.status === "queued") await copyUpload(ports, waiting);
    const stored = await deployments.change(id, (deployment) => {
      const expired = expireHeld(deployment, at);
      if (!expired) return undefined;
      const { status } = expired;
      const events = [
        { type: "status", status, decision: null },
        { type: "end", status, decision: null, error: null },
      ] as const;
      return { deployment: expired, events: status === "cancelled" ? events : [] };
    });
    if (stored?.status === "cancelled") await keepUpload(ports, stored);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

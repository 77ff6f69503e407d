import type { Deployment } from "../../../domain/deployment/deployment.ts";
import { happen } from "../../../domain/deployment/transitions.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { DeploymentQueue } from "../../../ports/deployment_queue.ts";
import type { Deployments } from "../../../ports/deployments.ts";
import type { Log } from "../../../ports/log.ts";
import { keepUpload, type KeepUploadPorts } from "../keep_upload.ts";
import type { StopReason } from "./run.ts";

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
  /** Carries out one deployment. */
  readonly run: (deployment: Deployment, signal: AbortSignal) => Promise<void>;
  readonly maxBuilds: number;
}

/** A worker that runs; stopping it leaves what it had to the next one. */
export interface Worker {
  stop(): Promise<void>;
}

/** A deployment being carried out. */
interface Work {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Until when nobody else may have it, by this machine's own clock. */
  heldUntil: number;
}

/** Takes deployments from the queue and carries them out, as many as may run at once, until stopped. */
export function startWorker(ports: WorkerPorts, options: WorkerOptions): Worker {
  return new QueueWorker(ports, options);
}

class QueueWorker implements Worker {
  readonly #ports: WorkerPorts;
  readonly #options: WorkerOptions;
  readonly #owner = crypto.randomUUID();
  readonly #running = new Map<string, Work>();
  readonly #forget: () => void;
  readonly #loop: Promise<void>;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(ports: WorkerPorts, options: WorkerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#forget = ports.deploymentQueue.onWork(() => {
      this.#wake?.();
      for (const id of this.#running.keys()) void this.#renew(id);
    });
    this.#loop = this.#takeAll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forget();
    this.#wake?.();
    for (const { stop } of this.#running.values()) stop.abort("shutdown" satisfies StopReason);
    await this.#loop;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #takeAll(): Promise<void> {
    while (!this.#stopped) {
      // Whoever calls from here on is heard, also while this looks.
      const called = new Promise<void>((resolve) => (this.#wake = resolve));
      const { maxBuilds } = this.#options;
      const taken = await this.#attempt(() => this.#ports.deploymentQueue.take({ ...this.#lease(), maxBuilds }));
      if (taken) this.#begin(taken);
      else {
        await this.#attempt(() => endOverdue(this.#ports));
        await Promise.race([called, sleep(LOOK_MS)]);
      }
    }
  }

  #begin(deployment: Deployment): void {
    const { id } = deployment;
    const stop = new AbortController();
    if (deployment.cancelRequested) stop.abort("cancelled" satisfies StopReason);
    if (this.#stopped) stop.abort("shutdown" satisfies StopReason);
    const renewal = setInterval(() => void this.#renew(id), RENEW_MS);
    const done = this.#attempt(() => this.#options.run(deployment, stop.signal)).then(async () => {
      clearInterval(renewal);
      await this.#giveBack(id);
      this.#running.delete(id);
    });
    this.#running.set(id, { stop, done, heldUntil: performance.now() + LEASE_MS });
  }

  /** A database that is away takes it back a little later; after the lease it is free anyway. */
  async #giveBack(id: string): Promise<void> {
    const until = performance.now() + LEASE_MS;
    const release = async () => {
      await this.#ports.deploymentQueue.release(id, this.#owner);
      return true;
    };
    while (!(await this.#attempt(release))) if (this.#stopped || performance.now() > until) return;
  }

  async #renew(id: string): Promise<void> {
    const work = this.#running.get(id);
    const asked = performance.now();
    const standing = await this.#attempt(() => this.#ports.deploymentQueue.renew(id, this.#lease()));
    if (!work) return;
    if (standing === "held") work.heldUntil = asked + LEASE_MS;
    // Whoever cannot renew its lease must be gone before another takes it.
    const late = performance.now() > work.heldUntil - RENEW_MS;
    if (standing === "cancel") work.stop.abort("cancelled" satisfies StopReason);
    else if (standing === "lost" || late) work.stop.abort("lost" satisfies StopReason);
  }

  #lease() {
    return { owner: this.#owner, at: this.#ports.clock.now(), leaseMs: LEASE_MS };
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#ports.log.write("warn", "The worker met a problem and goes on", {
        error: error instanceof Error ? error.message : String(error),
      });
      await sleep(200);
      return undefined;
    }
  }
}

/** Ends what nobody started or answered in time. */
async function endOverdue(ports: WorkerPorts): Promise<void> {
  const { clock, deploymentQueue, deployments } = ports;
  const at = clock.now();
  for (const id of await deploymentQueue.overdue({ at, heldMs: HELD_MS })) {
    const stored = await deployments.change(id, (deployment) => {
      if (!deployment.held) return undefined;
      // An unanswered prompt is the engine's to end, with its step; a deployment that was never started simply ends here.
      if (deployment.status !== "queued") return { deployment: { ...deployment, held: false }, events: [] };
      const ended = happen({ ...deployment, held: false }, "cancelled", { at });
      return {
        deployment: ended,
        events: [
          { type: "status", status: ended.status, decision: null },
          { type: "end", status: ended.status, decision: null, error: null },
        ],
      };
    });
    if (stored?.status === "cancelled") await keepUpload(ports, stored);
    await deploymentQueue.announce();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

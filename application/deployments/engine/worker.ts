import type { Deployment } from "../../../domain/deployment/deployment.ts";
import { happen } from "../../../domain/deployment/transitions.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { DeploymentQueue } from "../../../ports/deployment_queue.ts";
import type { Deployments } from "../../../ports/deployments.ts";
import type { Log } from "../../../ports/log.ts";
import type { StopReason } from "./run_deployment.ts";

const LEASE_MS = 10_000;
const RENEW_MS = 2_000;
const LOOK_MS = 1_000;
const HELD_MS = 24 * 3_600_000;

export interface WorkerPorts {
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

/** Takes deployments from the queue and carries them out, as many as may run at once, until stopped. */
export function startWorker(ports: WorkerPorts, { run, maxBuilds }: WorkerOptions): Worker {
  const owner = crypto.randomUUID();
  const running = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  const lease = () => ({ owner, at: ports.clock.now(), leaseMs: LEASE_MS });
  let stopped = false;
  let wake = () => {};
  const forget = ports.deploymentQueue.onWork(() => {
    wake();
    for (const id of running.keys()) void renew(id);
  });
  const loop = (async () => {
    while (!stopped) {
      const taken = await attempt(() => ports.deploymentQueue.take({ ...lease(), maxBuilds }));
      if (taken) begin(taken);
      else if (!stopped) {
        await attempt(() => endOverdue(ports));
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(LOOK_MS)]);
      }
    }
  })();

  function begin(deployment: Deployment): void {
    const stop = new AbortController();
    const renewal = setInterval(() => void renew(deployment.id), RENEW_MS);
    const done = attempt(() => run(deployment, stop.signal)).then(async () => {
      clearInterval(renewal);
      running.delete(deployment.id);
      await attempt(() => ports.deploymentQueue.release(deployment.id, owner));
      await attempt(() => ports.deploymentQueue.announce());
    });
    running.set(deployment.id, { stop, done });
  }

  async function renew(id: string): Promise<void> {
    const standing = await attempt(() => ports.deploymentQueue.renew(id, lease()));
    const reason: StopReason | undefined =
      standing === "cancel" ? "cancelled" : standing === "lost" ? "lost" : undefined;
    if (reason) running.get(id)?.stop.abort(reason);
  }

  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      ports.log.write("warn", "The worker met a problem and goes on", {
        error: error instanceof Error ? error.message : String(error),
      });
      await sleep(200);
      return undefined;
    }
  }

  return {
    async stop() {
      stopped = true;
      forget();
      wake();
      for (const { stop } of running.values()) stop.abort("shutdown" satisfies StopReason);
      await loop;
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

/** Ends what nobody started or answered in time. */
async function endOverdue({ clock, deploymentQueue, deployments }: WorkerPorts): Promise<void> {
  const at = clock.now();
  for (const id of await deploymentQueue.overdue({ at, heldMs: HELD_MS })) {
    await deployments.change(id, (deployment) => {
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
    await deploymentQueue.announce();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

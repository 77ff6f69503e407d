import { CRASH_LOOP } from "../../domain/deployments/crash_loop.ts";
import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../domain/deployments/deployment_event.ts";
import { howItEnded } from "../../domain/deployments/ending.ts";
import { shownService } from "../../domain/deployments/shown_service.ts";
import { isSettled } from "../../domain/deployments/transitions.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Deployments, DeploymentChange } from "../../ports/deployments/deployments.ts";
import type { InstanceEndings } from "../../ports/services/instance_endings.ts";
import type { LiveRelease, LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Instance, Runtime } from "../../ports/services/runtime.ts";

export interface OutageWatchPorts {
  readonly clock: Clock;
  readonly deployments: Deployments;
  readonly instanceEndings: InstanceEndings;
  readonly liveReleases: LiveReleases;
  readonly log: Log;
  readonly runtime: Runtime;
}

export interface OutageOptions {
  /** How long a program in a crash loop has to stay up before it counts as recovered. */
  readonly steadyMs: number;
  /** Bounds of the pause before an instance that is down is checked again. */
  readonly lookMs: { readonly least: number; readonly most: number };
}

const OPTIONS: OutageOptions = { steadyMs: 10_000, lookMs: { least: 250, most: 2_000 } };
/** Minimum interval between outage events of a service that keeps failing and recovering. */
const QUIET_MS = 60_000;
/** An outage whose beginning this process did not see; treated like a crash loop. */
const UNKNOWN = { restarts: Number.NEGATIVE_INFINITY };

/** An instance that is down and checked again. */
interface Down {
  /** Restart count of the instance when it was first seen down. */
  readonly restarts: number;
  readonly timer?: ReturnType<typeof setTimeout>;
}

/**
 * Keeps the recorded status of live services up to date: a service that exited is shown as failed, with the reason and
 * the next restart, until it is up again, and events of its deployment report both.
 */
export class OutageWatch implements AsyncDisposable {
  readonly #ports: OutageWatchPorts;
  readonly #options: OutageOptions;
  readonly #store: ReturnType<typeof storeOutage>;
  readonly #down = new Map<string, Down>();
  readonly #looks = new Set<Promise<void>>();
  readonly #forget: () => void;
  #isStopped = false;

  constructor(ports: OutageWatchPorts, options: OutageOptions = OPTIONS) {
    this.#ports = ports;
    this.#options = options;
    this.#store = storeOutage(ports);
    this.#forget = ports.instanceEndings.onEnding((instanceId) => void this.#look(instanceId));
  }

  /** Checks all live instances, for exits that no notification reported. */
  async lookAtAll(): Promise<void> {
    const live = (await this.#ports.liveReleases.list()).flatMap(({ deployment }) => deployment.services);
    const known = new Map(live.map(({ instanceId, outage }) => [instanceId, outage]));
    const isDue = ({ instanceId, status }: Instance) =>
      known.has(instanceId) && (status === "restarting" || known.get(instanceId) !== undefined);
    const due = (await this.#ports.runtime.list()).filter(isDue);
    await Promise.all(due.map(({ instanceId }) => this.#look(instanceId)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#forget();
    for (const { timer } of this.#down.values()) clearTimeout(timer);
    await Promise.all(this.#looks);
  }

  async #look(instanceId: string): Promise<void> {
    if (this.#isStopped) return;
    const looking = this.#lookAt(instanceId).catch((error: unknown) => {
      const fields = { instanceId, ...loggedError(error) };
      this.#ports.log.write("warn", "Could not record whether a service is up", fields);
      this.#lookAgain(instanceId, this.#options.lookMs.most);
    });
    this.#looks.add(looking);
    await looking.finally(() => this.#looks.delete(looking));
  }

  async #lookAt(instanceId: string): Promise<void> {
    const instance = await this.#ports.runtime.find(instanceId);
    // An instance that was stopped, or has completed, is down on purpose.
    const release = instance && instance.status !== "exited" ? await this.#releaseOf(instance) : undefined;
    if (!instance || !release) return this.#letGo(instanceId);
    if (this.#isBack(instance)) {
      await this.#store(release.deployment.id, instanceId, undefined);
      return this.#letGo(instanceId);
    }
    if (instance.status === "restarting") {
      if (!this.#down.has(instanceId)) this.#down.set(instanceId, { restarts: instance.restarts });
      await this.#store(release.deployment.id, instanceId, outageOf(instance));
    }
    this.#lookAgain(instanceId, (instance.nextStartAt?.getTime() ?? 0) - Date.now());
  }

  /** An instance in a crash loop has to stay up for `steadyMs` first. */
  #isBack({ instanceId, restarts, startedAt, status }: Instance): boolean {
    if (status !== "running") return false;
    const { restarts: before } = this.#down.get(instanceId) ?? UNKNOWN;
    const isLoop = restarts - before >= CRASH_LOOP - 1;
    return !isLoop || Date.now() - startedAt.getTime() >= this.#options.steadyMs;
  }

  #lookAgain(instanceId: string, afterMs: number): void {
    const seen = this.#down.get(instanceId) ?? UNKNOWN;
    this.#letGo(instanceId);
    if (this.#isStopped) return;
    const { least, most } = this.#options.lookMs;
    const timer = setTimeout(() => void this.#look(instanceId), Math.min(Math.max(afterMs + least, least), most));
    timer.unref();
    this.#down.set(instanceId, { restarts: seen.restarts, timer });
  }

  #letGo(instanceId: string): void {
    clearTimeout(this.#down.get(instanceId)?.timer);
    this.#down.delete(instanceId);
  }

  /** The live release that the instance is part of; it may have carried over unchanged through several deployments. */
  async #releaseOf({ deploymentId, instanceId, projectId }: Instance): Promise<LiveRelease | undefined> {
    for (const key of [projectId, deploymentId]) {
      const release = await this.#ports.liveReleases.find(key);
      if (release?.deployment.services.some((service) => service.instanceId === instanceId)) return release;
    }
    return undefined;
  }
}

function outageOf({ exit, nextStartAt }: Instance): string {
  const next = nextStartAt ? `, next try at ${nextStartAt.toISOString()}` : "";
  return `It ${howItEnded(exit)} and is restarted automatically${next}`;
}

/** Stores an outage of a service, or its end. Idempotent: concurrent watchers that see the same store it once. */
function storeOutage({ clock, deployments }: OutageWatchPorts) {
  const reportedAt = new Map<string, number>();
  /** Instances with an outage that no event reports, because the last one was reported shortly before. */
  const unreported = new Set<string>();

  return async function (deploymentId: string, instanceId: string, outage: string | undefined): Promise<void> {
    const notes: (() => void)[] = [];
    await deployments.change(deploymentId, (deployment): DeploymentChange | undefined => {
      // Runs again if another change came first, so that only the last run counts.
      notes.length = 0;
      const service = deployment.services.find((each) => each.instanceId === instanceId);
      const isBusy = !isSettled(deployment) || deployment.pendingDecision !== null;
      if (!service || service.outage === outage || isBusy) return undefined;
      const changed = withOutage(service, outage);
      const services = deployment.services.map((each) => (each === service ? changed : each));
      const isNew = service.outage === undefined || unreported.has(instanceId);
      const reports = outage === undefined ? !unreported.has(instanceId) : isNew && !isSoon(instanceId);
      notes.push(() => noteOutage(instanceId, { isOver: outage === undefined, isNew, reports }));
      return { deployment: { ...deployment, services }, events: reports ? outageEvents(deployment, changed) : [] };
    });
    for (const note of notes) note();
  };

  function isSoon(instanceId: string): boolean {
    return clock.now().getTime() - (reportedAt.get(instanceId) ?? Number.NEGATIVE_INFINITY) < QUIET_MS;
  }

  function noteOutage(instanceId: string, { isOver, isNew, reports }: Record<"isOver" | "isNew" | "reports", boolean>) {
    if (isOver || reports) unreported.delete(instanceId);
    else if (isNew) unreported.add(instanceId);
    if (!isOver && reports) reportedAt.set(instanceId, clock.now().getTime());
  }
}

function withOutage(service: DeployedService, outage: string | undefined): DeployedService {
  const { outage: _, ...up } = service;
  return outage === undefined ? up : { ...up, outage };
}

/** The event stream of a settled deployment ends with an `end` event, so every addition repeats it. */
function outageEvents({ status, decision, error }: Deployment, service: DeployedService): readonly NewEvent[] {
  return [
    { type: "service", ...shownService(service) },
    { type: "end", status, decision, error },
  ];
}

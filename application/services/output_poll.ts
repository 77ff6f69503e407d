import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isSettled } from "../../domain/deployments/transitions.ts";
import { Failure } from "../../domain/failure.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import type { LogEvent, PollResult } from "./output_feed.ts";
import { RuntimeOutput, type RuntimeOutputPorts } from "./runtime_output.ts";

export interface OutputPollPorts extends RuntimeOutputPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly runtime: Runtime;
}

/** Lines per page. */
const PAGE = 5_000;
/** Maximum delay until a printed line becomes readable. */
const SETTLE_MS = 200;
/** Age of a line after which no line with a lower number appears any more. */
const OLD_MS = 1_000;
/** How long lines may keep coming without a check whether the deployment is still live. */
const CHECK_MS = 2_000;

/** Polls for new output of a deployment, or of one of its services. */
export class OutputPoll {
  readonly #ports: OutputPollPorts;
  readonly #id: string;
  readonly #output: RuntimeOutput;
  readonly #settling = new Settling();
  #checkedAt = performance.now();
  /** The time since which no further output is expected. */
  #overAt: number | undefined;

  constructor(ports: OutputPollPorts, id: string, service: string | undefined) {
    this.#ports = ports;
    this.#id = id;
    this.#output = new RuntimeOutput(ports, service);
  }

  /** Polls once; a follower calls this repeatedly. */
  async look(since: number): Promise<PollResult> {
    const deployment = await this.#ports.deployments.get(this.#id);
    if (!deployment) return { lines: [], again: "later", end: "gone" };
    const page = await this.#read(deployment, since);
    if (page.length === 0 || this.#overAt !== undefined || performance.now() - this.#checkedAt > CHECK_MS) {
      const wasOver = this.#overAt !== undefined;
      this.#overAt = (await this.isOver(deployment)) ? (this.#overAt ?? Date.now()) : undefined;
      this.#checkedAt = performance.now();
      if (this.#overAt !== undefined) return lastPoll(deployment, page, { wasOver, overAt: this.#overAt });
    }
    const lines = this.#settled(deployment, page);
    if (page.length === 0) return { lines, again: "later" };
    return { lines, again: page.length >= PAGE && lines.length > 0 ? "now" : "soon" };
  }

  /** Reads a page of the available lines, and returns whether there are more. */
  async page(since: number): Promise<{ readonly lines: readonly LogEvent[]; readonly isFull: boolean }> {
    const deployment = await this.#ports.deployments.get(this.#id);
    const page = deployment ? await this.#read(deployment, since) : [];
    const lines = deployment ? this.#settled(deployment, page) : [];
    return { lines, isFull: page.length >= PAGE && lines.length > 0 };
  }

  /** Returns whether there are no lines after a number, and never will be. */
  async isDone(deployment: Deployment, since: number): Promise<boolean> {
    return (await this.isOver(deployment)) && (await this.#read(deployment, since, 1)).length === 0;
  }

  /**
   * Returns whether no instance of a deployment prints any more, or only ones that a later deployment has taken over.
   */
  async isOver(deployment: Deployment): Promise<boolean> {
    const { liveReleases, runtime } = this.#ports;
    if (!isSettled(deployment) || deployment.pendingDecision !== null) return false;
    const printing = this.#output.servicesOf(deployment).filter(({ site }) => site === null);
    const instances = printing.flatMap(({ instanceId, lastInstanceId }) => instanceId ?? lastInstanceId ?? []);
    if (instances.length === 0) return true;
    const live = await liveReleases.find(scopeOf(deployment));
    if (live?.deployment.id === deployment.id) return false;
    const inUse = new Set(live?.deployment.services.map(({ instanceId }) => instanceId));
    const left = instances.filter((instanceId) => !inUse.has(instanceId));
    try {
      const found = await Promise.all(left.map((instanceId) => runtime.find(instanceId)));
      return found.every((instance) => instance === undefined);
    } catch (error) {
      if (error instanceof Failure && error.kind === "unavailable") return false;
      throw error;
    }
  }

  async #read(deployment: Deployment, since: number, limit = PAGE): Promise<readonly LogEvent[]> {
    const lines = await this.#output.read(deployment, { since, limit });
    return lines.map((line) => ({ type: "log", ...line }));
  }

  /** The lines of a single service are in order already. */
  #settled(deployment: Deployment, lines: readonly LogEvent[]): readonly LogEvent[] {
    return this.#output.servicesOf(deployment).length > 1 ? this.#settling.settled(lines) : lines;
  }
}

/** The poll result of a deployment that expects no further output: everything that was printed until that was found. */
function lastPoll(
  { decision, error, status }: Deployment,
  lines: readonly LogEvent[],
  { overAt, wasOver }: { readonly overAt: number; readonly wasOver: boolean },
): PollResult {
  const isAll = lines.length === 0 || lines.at(-1)!.at.getTime() > overAt;
  // A page that was read before the deployment was known to be over may be incomplete.
  if (!wasOver || !isAll) return { lines, again: "now" };
  return { lines, again: "later", end: { type: "end", status, decision, error } };
}

/**
 * Holds back the newest lines of several services for a moment, because a line of another service with a lower number
 * may not be readable yet.
 */
class Settling {
  #seen = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  #settled = 0;

  /** Returns the lines before which no other line can appear any more. */
  settled(lines: readonly LogEvent[]): readonly LogEvent[] {
    const at = performance.now();
    if (at - this.#seenAt >= SETTLE_MS) {
      this.#settled = this.#seen;
      this.#seen = lines.at(-1)?.seq ?? this.#seen;
      this.#seenAt = at;
    }
    const old = Date.now() - OLD_MS;
    const end = lines.findIndex((line) => line.seq > this.#settled && line.at.getTime() > old);
    return end < 0 ? lines : lines.slice(0, end);
  }
}

import type { ContainerRecord } from "../engine/containers.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { scopeOf } from "./labels.ts";
import type { NetworkLeaveQueue } from "./network_leave_queue.ts";

const LONGEST_GRACE_S = 300;

/** Stops and restarts containers, each of which leaves its networks for a moment. */
export class ContainerStops {
  readonly #engine: EngineApi;
  readonly #departures: NetworkLeaveQueue;

  constructor(engine: EngineApi, departures: NetworkLeaveQueue) {
    this.#engine = engine;
    this.#departures = departures;
  }

  /** Stops or restarts a container. Prefers its own stop timeout if that is longer, up to 300 s. */
  async run(record: ContainerRecord, how: "stop" | "restart", graceMs: number): Promise<void> {
    const seconds = Math.max(Math.ceil(graceMs / 1_000), Math.min(record.Config.StopTimeout ?? 0, LONGEST_GRACE_S));
    const request = { query: { t: seconds }, timeoutMs: seconds * 1_000 + this.#engine.answerMs };
    const end = () => this.#engine.request("POST", `/containers/${record.Id}/${how}`, request);
    await this.#departures.run(scopeOf(record.Config.Labels), end);
  }
}

import { loggedError } from "../../../domain/logged_error.ts";
import type { Log } from "../../../ports/system/log.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

/** The callbacks of a watcher. */
export interface WatchedContainers {
  /** Called as soon as the engine reports that the program of an instance has ended. */
  ended(instanceId: string, ending: ReportedEnding): Promise<void>;
  /** Reconciles one instance. */
  look(instanceId: string): Promise<void>;
  /** Reconciles all instances. */
  lookAtAll(): Promise<void>;
}

/** An ending as the engine reports it at once; the container may run again by the time it is inspected. */
export interface ReportedEnding {
  readonly exitCode: number;
  /** In nanoseconds, by the engine's clock. */
  readonly at: number;
}

interface ContainerEvent {
  readonly Action: string;
  readonly timeNano: number;
  readonly Actor: { readonly Attributes: Readonly<Record<string, string>> };
}

const AGAIN_MS = { first: 200, last: 5_000 } as const;
/** How long an engine that does not respond may delay startup. */
const FIRST_LOOK_MS = 5_000;
/** Delay after an ending until the engine's reaction can be inspected. */
const TELLING_MS = 1_000;
/** Interval for reconciling all instances, independent of events. */
const ROUND_MS = 60_000;

/**
 * Follows the engine's events for this installation's containers and reconciles those that ended. Several servers may
 * do so concurrently.
 */
export class ContainerWatcher {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #watched: WatchedContainers;
  readonly #log: Log | undefined;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #round: ReturnType<typeof setInterval> | undefined;

  constructor(engine: EngineApi, own: OwnContainers, watched: WatchedContainers, log: Log | undefined) {
    this.#engine = engine;
    this.#own = own;
    this.#watched = watched;
    this.#log = log;
  }

  /** Resolves once all instances were reconciled, the engine failed to respond, or 5 s have passed. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { signal } = (this.#stopped = new AbortController());
    this.#running = this.#watch(signal, resolve);
    this.#round = setInterval(() => this.#attempt(() => this.#watched.lookAtAll()), ROUND_MS);
    this.#round.unref();
    await Promise.race([promise, pause(FIRST_LOOK_MS, signal)]);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    clearInterval(this.#round);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await this.#running;
  }

  async #watch(signal: AbortSignal, looked: () => void): Promise<void> {
    let waitMs: number = AGAIN_MS.first;
    while (!signal.aborted) {
      try {
        await this.#follow(signal, () => {
          waitMs = AGAIN_MS.first;
          looked();
        });
      } catch (error) {
        if (!signal.aborted && waitMs === AGAIN_MS.first) {
          this.#log?.write("warn", "Containers cannot be watched", { ...loggedError(error) });
        }
      }
      looked();
      await pause(waitMs, signal);
      waitMs = Math.min(waitMs * 2, AGAIN_MS.last);
    }
  }

  /** Subscribes before it reconciles, so that no event is missed in between. */
  async #follow(signal: AbortSignal, looked: () => void): Promise<void> {
    const filters = JSON.stringify({ type: ["container"], event: ["die", "oom"], label: this.#own.filter() });
    const ended = new AbortController();
    const open = AbortSignal.any([signal, ended.signal]);
    try {
      const events = await this.#engine.request("GET", "/events", { query: { filters }, signal: open });
      await this.#watched.lookAtAll();
      looked();
      let rest = "";
      const decoder = new TextDecoder();
      for await (const bytes of events.body ?? []) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
        rest = lines.pop()!;
        for (const line of lines) this.#take(JSON.parse(line) as ContainerEvent);
      }
    } finally {
      // Each retry subscribes anew, and the engine keeps every connection that is open.
      ended.abort();
    }
  }

  #take({ Action, Actor: { Attributes }, timeNano }: ContainerEvent): void {
    const instanceId = Attributes[LABEL.instance];
    if (instanceId === undefined) return;
    const ending = { exitCode: Number(Attributes["exitCode"]), at: timeNano };
    if (Action === "die") this.#attempt(() => this.#watched.ended(instanceId, ending));
    if (Action === "oom") this.#log?.write("warn", "An instance ran out of memory", { instanceId });
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#attempt(() => this.#watched.look(instanceId));
    }, TELLING_MS);
    timer.unref();
    this.#timers.add(timer);
  }

  #attempt(look: () => Promise<void>): void {
    look().catch((error: unknown) =>
      this.#log?.write("warn", "Could not check the instances", { ...loggedError(error) }),
    );
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    if (signal.aborted) resolve();
  });
}

import { loggedError } from "../../../domain/logged_error.ts";
import type { Log } from "../../../ports/system/log.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

/** What a watcher has looked after. */
export interface WatchedContainers {
  /** Called as soon as the engine says that the program of an instance has ended. */
  ended(instanceId: string, ending: ReportedEnding): Promise<void>;
  /** Does what is due for an instance. */
  look(instanceId: string): Promise<void>;
  /** Does what is due for all. */
  lookAtAll(): Promise<void>;
}

/** What the engine tells of an ending at once; the container itself may run again when it is looked at. */
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
/** How long to hold up a start for an engine that does not answer. */
const FIRST_LOOK_MS = 5_000;
/** How long after an ending it can be told what the engine made of it. */
const TELLING_MS = 1_000;
/** How often to look at all, whatever the engine has told. */
const ROUND_MS = 60_000;

/** Follows what the engine tells of this installation's containers, and has those looked at that ended. Several servers may do so at once. */
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

  /** Resolves once all were looked at, or nothing answered for some seconds. */
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

  /** Listens before it looks, so that nothing happens in between. */
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
      // It is asked anew after each failure, and the engine keeps every connection that is open.
      ended.abort();
    }
  }

  #take({ Action, Actor: { Attributes }, timeNano }: ContainerEvent): void {
    const instanceId = Attributes[LABEL.instance];
    if (instanceId === undefined) return;
    const ending = { exitCode: Number(Attributes["exitCode"]), at: timeNano };
    if (Action === "die") this.#attempt(() => this.#watched.ended(instanceId, ending));
    if (Action === "oom") this.#log?.write("warn", "An instance has no memory left", { instanceId });
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#attempt(() => this.#watched.look(instanceId));
    }, TELLING_MS);
    timer.unref();
    this.#timers.add(timer);
  }

  #attempt(look: () => Promise<void>): void {
    look().catch((error: unknown) =>
      this.#log?.write("warn", "Instances could not be looked after", { ...loggedError(error) }),
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

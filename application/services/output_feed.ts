import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { Failure } from "../../domain/failure.ts";

export type LogEvent = Extract<DeploymentEvent, { type: "log" }>;
export type EndEvent = Extract<DeploymentEvent, { type: "end" }>;

/** The result of one poll for new lines. */
export interface PollResult {
  /** Lines after the requested number, oldest first. */
  readonly lines: readonly LogEvent[];
  /** When to poll again: `now` if there is more already, `soon` while lines come, `later` if nothing was printed. */
  readonly again: "now" | "soon" | "later";
  /** Set once no more lines will ever come: the final event, or `gone` for a deleted deployment. */
  readonly end?: Omit<EndEvent, "seq"> | "gone";
}

/** What a follower receives: lines, `behind` if they are no longer buffered, or the end of the stream. */
export type FeedUpdate = readonly LogEvent[] | "behind" | { readonly end: Exclude<PollResult["end"], undefined> };

export interface FeedOptions {
  /** Pause between two polls: `least` while lines come, growing to `most` while none do. */
  readonly pauseMs: { readonly least: number; readonly most: number };
  /** Maximum size of the shared buffer, in characters. */
  readonly keptCharacters: number;
}

export const FEED_OPTIONS: FeedOptions = { pauseMs: { least: 250, most: 2_000 }, keptCharacters: 1_000_000 };
const GROWTH = 1.5;
/** Maximum size of a batch held for one slow reader, in characters. */
const HELD_CHARACTERS = 256 * 1024;

/**
 * Polls one log for new lines on behalf of all its followers in this process, as long as there are any. Buffers a
 * bounded amount of the newest lines; a follower that is further behind reads pages elsewhere.
 */
export class OutputFeed {
  readonly #look: (since: number) => Promise<PollResult>;
  readonly #options: FeedOptions;
  readonly #waiting = new Set<() => void>();
  readonly #left = new AbortController();
  #followers = 0;
  #batches: (readonly LogEvent[])[] = [];
  #characters = 0;
  /** All lines after this number, up to `#last`, are buffered. */
  #start: number;
  #last: number;
  #end: PollResult["end"];
  #failure: { readonly error: unknown } | undefined;
  #isLooking = false;

  constructor(look: (since: number) => Promise<PollResult>, since: number, options: FeedOptions = FEED_OPTIONS) {
    this.#look = look;
    this.#options = options;
    this.#start = since;
    this.#last = since;
  }

  /** Adds a follower. */
  join(): void {
    this.#followers++;
    void this.#run();
  }

  /** Removes a follower; returns whether any are left. */
  leave(): boolean {
    if (--this.#followers > 0) return true;
    this.#left.abort();
    return false;
  }

  /** Waits for the next lines after a number; returns none when `signal` aborts. Followers share the same arrays. */
  async next(after: number, signal: AbortSignal): Promise<FeedUpdate> {
    for (;;) {
      if (signal.aborted) return [];
      if (after < this.#start) return "behind";
      const batch = this.#batches.find((each) => each.at(-1)!.seq > after);
      if (batch) return batch[0]!.seq > after ? batch : batch.filter(({ seq }) => seq > after);
      if (this.#failure) throw this.#failure.error;
      if (this.#end) return { end: this.#end };
      await this.#change(signal);
    }
  }

  /**
   * Restarts the feed after a lower number, at which a follower found nothing to read; others skip the lines they know.
   */
  rewind(since: number): void {
    if (since >= this.#start) return;
    this.#batches = [];
    this.#characters = 0;
    this.#start = since;
    this.#last = since;
    this.#end = undefined;
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { least, most } = this.#options.pauseMs;
    for (let pauseMs = least; !this.#left.signal.aborted && !this.#end && !this.#failure;) {
      const again = await this.#once();
      pauseMs = again === "later" ? Math.min(pauseMs * GROWTH, most) : least;
      if (!this.#end && !this.#failure) await pause(again === "now" ? 0 : pauseMs, this.#left.signal);
    }
    this.#isLooking = false;
  }

  async #once(): Promise<PollResult["again"]> {
    const since = this.#last;
    try {
      const { again, end, lines } = await this.#look(since);
      // The feed may have been rewound meanwhile; the next poll finds the same lines again.
      if (since !== this.#last) return "now";
      this.#add(lines);
      this.#end = end;
      if (lines.length > 0 || end) this.#wake();
      return again;
    } catch (error) {
      // An engine or a database that is unavailable comes back: keep polling.
      if (error instanceof Failure && error.kind === "unavailable") return "later";
      this.#failure = { error };
      this.#wake();
      return "later";
    }
  }

  #add(lines: readonly LogEvent[]): void {
    if (lines.length === 0) return;
    for (let rest = lines; rest.length > 0;) {
      const batch = withinCharacters(rest);
      this.#batches.push(batch);
      rest = rest.slice(batch.length);
    }
    this.#characters += charactersOf(lines);
    this.#last = lines.at(-1)!.seq;
    // Always keeps the newest batch, or followers would never receive it.
    while (this.#characters > this.#options.keptCharacters && this.#batches.length > 1) {
      const dropped = this.#batches.shift()!;
      this.#characters -= charactersOf(dropped);
      this.#start = dropped.at(-1)!.seq;
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const stop = () => resolve();
    signal.addEventListener("abort", stop, { once: true });
    await promise;
    signal.removeEventListener("abort", stop);
    this.#waiting.delete(resolve);
  }
}

/** Approximate overhead of a line beside its message. */
const LINE_CHARACTERS = 200;

function charactersOf(lines: readonly LogEvent[]): number {
  return lines.reduce((sum, { message }) => sum + message.length + LINE_CHARACTERS, 0);
}

/** Returns the first lines that fit into `most` characters together, at least one. */
export function withinCharacters(lines: readonly LogEvent[], most = HELD_CHARACTERS): readonly LogEvent[] {
  let characters = 0;
  const end = lines.findIndex((line) => (characters += charactersOf([line])) > most);
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}

/** Waits, at most until the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", stop));
}

import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { Failure } from "../../domain/failure.ts";
import { EventFollower } from "./event_follower.ts";

export type EventBatch = readonly DeploymentEvent[];

/** Where the events of one deployment are stored. */
export interface EventSource {
  /** The number of the last event; `undefined` when the deployment is gone. */
  last(): Promise<number | undefined>;
  /** Some of the events after a number, the next ones first, with the size of their text; none when there are none. */
  page(since: number): Promise<EventPage>;
}

export interface EventPage {
  readonly events: EventBatch;
  readonly bytes: number;
}

const MAX_EVENTS = 20_000;
const MAX_BYTES = 8 * 1_048_576;
const MAX_BATCHES = 1_000;
const POLL_MS = 3_000;
const RETRY_MS = 500;

/**
 * The events of one deployment for everybody in this process who follows it: the newest are read once and kept for all,
 * within bounds; who is further behind reads for himself.
 */
export class EventFeed {
  readonly #source: EventSource;
  readonly #followers = new Set<EventFollower>();
  readonly #pages = new Map<number, Promise<EventBatch | undefined>>();
  readonly #poll: ReturnType<typeof setInterval>;
  readonly #kept: EventPage[] = [];
  #events = 0;
  #bytes = 0;
  /** The number of the last event that was read for all; unknown until asked for. */
  #head: number | undefined;
  /** The last event there is, as far as told. */
  #told = 0;
  #stale = true;
  #reading = false;
  #end: { readonly error?: unknown } | undefined;

  /** Asks every `pollMs` whether something was missed. */
  constructor(source: EventSource, pollMs = POLL_MS) {
    this.#source = source;
    this.#poll = setInterval(() => this.recheck(), pollMs);
    this.#poll.unref();
  }

  /** Whether nobody follows. */
  get idle(): boolean {
    return this.#followers.size === 0;
  }

  /** Whether nothing more can come; throws when that is by a fault. */
  get ended(): boolean {
    if (this.#end && "error" in this.#end) throw this.#end.error;
    return this.#end !== undefined;
  }

  join(since: number, signal: AbortSignal): EventFollower {
    const follower = new EventFollower(this, since, signal);
    this.#followers.add(follower);
    return follower;
  }

  leave(follower: EventFollower): void {
    this.#followers.delete(follower);
  }

  /** Hears that there are events up to a number. */
  tell(last: number): void {
    this.#told = Math.max(this.#told, last);
    this.want();
  }

  /** Hears that somebody waits for what is new. */
  want(): void {
    if (this.#stale || this.#isWanted()) void this.#readOn();
  }

  /** Hears that it may have missed something. */
  recheck(): void {
    this.#stale = true;
    void this.#readOn();
  }

  /** Ends it for everybody. */
  close(fault?: { readonly error: unknown }): void {
    clearInterval(this.#poll);
    this.#end ??= fault ?? {};
    this.#wakeAll();
  }

  /** The next events after a number: kept ones, or those being read; `undefined` when there are none yet. */
  next(since: number): EventBatch | Promise<EventBatch | undefined> | undefined {
    if (this.#head === undefined || since >= this.#head) return undefined;
    return this.#keptAfter(since) ?? this.#storedAfter(since);
  }

  #keptAfter(since: number): EventBatch | undefined {
    const oldest = this.#kept[0]?.events[0];
    if (!oldest || since < oldest.seq - 1) return undefined;
    let [low, high] = [0, this.#kept.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#kept[middle]!.events.at(-1)!.seq > since) high = middle;
      else low = middle + 1;
    }
    const { events } = this.#kept[low]!;
    const skipped = since + 1 - events[0]!.seq;
    // The very same list goes to everybody, so that it can be made into bytes once.
    return skipped === 0 ? events : events.slice(skipped);
  }

  /** Reads for who is behind; several at the same place share one reading. */
  #storedAfter(since: number): Promise<EventBatch | undefined> {
    const underWay = this.#pages.get(since);
    if (underWay) return underWay;
    const page = this.#page(since).finally(() => this.#pages.delete(since));
    this.#pages.set(since, page);
    return page;
  }

  async #page(since: number): Promise<EventBatch | undefined> {
    try {
      return (await this.#source.page(since)).events;
    } catch (error) {
      if (!isPassing(error)) throw error;
      await Bun.sleep(RETRY_MS);
      return undefined;
    }
  }

  #isWanted(): boolean {
    return this.#told > (this.#head ?? 0) && this.#followers.values().some(({ waits }) => waits);
  }

  /** Reads what is new for those who wait, one reading at a time. */
  async #readOn(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (!this.#end && (this.#stale || this.#isWanted())) {
        if (this.#stale || this.#head === undefined) await this.#askLast();
        else await this.#readPage(this.#head);
        this.#wakeAll();
      }
    } catch (error) {
      // The next look, some seconds later, tries again.
      this.#stale = true;
      if (!isPassing(error)) this.close({ error });
    } finally {
      this.#reading = false;
    }
  }

  async #askLast(): Promise<void> {
    this.#stale = false;
    const last = await this.#source.last();
    if (last === undefined) return this.close();
    this.#head ??= last;
    this.#told = Math.max(this.#told, last);
  }

  async #readPage(since: number): Promise<void> {
    const page = await this.#source.page(since);
    const last = page.events.at(-1);
    if (!last) {
      this.#told = since;
      return;
    }
    this.#head = last.seq;
    this.#kept.push(page);
    this.#events += page.events.length;
    this.#bytes += page.bytes;
    while (this.#kept.length > 1 && this.#isFull()) {
      const oldest = this.#kept.shift()!;
      this.#events -= oldest.events.length;
      this.#bytes -= oldest.bytes;
    }
  }

  #isFull(): boolean {
    return this.#events > MAX_EVENTS || this.#bytes > MAX_BYTES || this.#kept.length > MAX_BATCHES;
  }

  #wakeAll(): void {
    for (const follower of this.#followers) follower.wake();
  }
}

/** Whether a failure may be over the next time. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}

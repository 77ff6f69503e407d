import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { Failure } from "../../domain/failure.ts";
import { EventFollower } from "./event_follower.ts";

export type EventBatch = readonly DeploymentEvent[];

/** The stored events of one deployment. */
export interface EventSource {
  /** Returns the number of the last event, or `undefined` when the deployment is gone. */
  last(): Promise<number | undefined>;
  /**
   * Returns the next page of events after a number, in order, with the size of their text. Empty when there are none.
   */
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
 * The events of one deployment for all its followers in this process. The newest are read once and cached for all,
 * within bounds; a follower that is further behind reads pages from the source.
 */
export class EventFeed {
  readonly #source: EventSource;
  readonly #followers = new Set<EventFollower>();
  readonly #pages = new Map<number, Promise<EventBatch | undefined>>();
  readonly #poll: ReturnType<typeof setInterval>;
  readonly #kept: EventPage[] = [];
  #events = 0;
  #bytes = 0;
  /** The number of the last event that was read for all followers. Unknown until first read. */
  #head: number | undefined;
  /** The highest event number that was announced or read. */
  #announced = 0;
  #stale = true;
  #reading = false;
  #end: { readonly error?: unknown } | undefined;

  /** Polls every `pollMs` milliseconds for missed events. */
  constructor(source: EventSource, pollMs = POLL_MS) {
    this.#source = source;
    this.#poll = setInterval(() => this.recheck(), pollMs);
    this.#poll.unref();
  }

  /** Whether the feed has no followers. */
  get idle(): boolean {
    return this.#followers.size === 0;
  }

  /** Whether the feed has ended. Throws the error when a fault ended it. */
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

  /** Announces events up to this number. */
  announce(last: number): void {
    this.#announced = Math.max(this.#announced, last);
    this.want();
  }

  /** Reads new events if there are any that a follower waits for. */
  want(): void {
    if (this.#stale || this.#isWanted()) void this.#readOn();
  }

  /** Checks the source for events whose announcement may have been missed. */
  recheck(): void {
    this.#stale = true;
    void this.#readOn();
  }

  /** Ends the feed for all followers, with an error if `fault` is given. */
  close(fault?: { readonly error: unknown }): void {
    clearInterval(this.#poll);
    this.#end ??= fault ?? {};
    this.#wakeAll();
  }

  /**
   * Returns the next events after a number, from the cache or as a pending read, or `undefined` when there are none
   * yet.
   */
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
    // All followers get the same array, so that it can be serialized once.
    return skipped === 0 ? events : events.slice(skipped);
  }

  /** Reads a page for followers that are behind. Followers at the same position share one read. */
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
    return this.#announced > (this.#head ?? 0) && this.#followers.values().some(({ waits }) => waits);
  }

  /** Reads new events for waiting followers, one read at a time. */
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
      // The next poll, some seconds later, retries.
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
    this.#announced = Math.max(this.#announced, last);
  }

  async #readPage(since: number): Promise<void> {
    const page = await this.#source.page(since);
    const last = page.events.at(-1);
    if (!last) {
      this.#announced = since;
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

/** Returns whether an error is transient. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}

import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";

type EventBatch = readonly DeploymentEvent[];

/** The part of a feed that a follower uses. */
interface Followed {
  readonly ended: boolean;
  next(since: number): EventBatch | Promise<EventBatch | undefined> | undefined;
  want(): void;
  leave(follower: EventFollower): void;
}

/** A follower of a feed, with its position. */
export class EventFollower implements Disposable {
  readonly #feed: Followed;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.wake();
  #since: number;
  #woken: PromiseWithResolvers<undefined> | undefined;
  #waits = false;

  constructor(feed: Followed, since: number, signal: AbortSignal) {
    this.#feed = feed;
    this.#since = since;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
  }

  /** Whether the follower has caught up and waits for new events. */
  get waits(): boolean {
    return this.#waits;
  }

  wake(): void {
    this.#waits = false;
    this.#woken?.resolve(undefined);
  }

  /**
   * Resolves with the next events once there are some, or `undefined` when the signal aborted or the deployment is
   * gone.
   */
  async next(): Promise<EventBatch | undefined> {
    while (!this.#signal.aborted && !this.#feed.ended) {
      const next = this.#feed.next(this.#since);
      const batch = isBatch(next) ? next : await this.#unlessWoken(next);
      if (!batch?.length) continue;
      this.#since = batch.at(-1)!.seq;
      return batch;
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#feed.leave(this);
  }

  /** Waits for the page, or for new events without one. Waking ends either wait. */
  async #unlessWoken(page: Promise<EventBatch | undefined> | undefined): Promise<EventBatch | undefined> {
    this.#woken = Promise.withResolvers();
    if (page) return Promise.race([page, this.#woken.promise]);
    this.#waits = true;
    this.#feed.want();
    return this.#woken.promise;
  }
}

function isBatch(next: EventBatch | Promise<EventBatch | undefined> | undefined): next is EventBatch {
  return Array.isArray(next);
}

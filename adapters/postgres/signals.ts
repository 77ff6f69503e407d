import { invalid } from "../../domain/failure.ts";
import type { Database } from "./database.ts";
import { listenLink, type ListenLink } from "./listen_link.ts";
import { withTimeout } from "../shared/deadline.ts";

/** Handles a message. If it returns a promise, the message counts as handled once that settles. */
type Handler = (payload: string) => unknown;

const BEAT_MS = 2_000;
/** How much longer than three beats a process trusts its caches: a busy machine is slow to answer. */
const PATIENCE_MS = 2_000;
/** How long a process that shares the work may take to show that it is there, before it counts as hung. */
const HUNG_MS = 20_000;
const CONNECT_LIMIT_MS = 5_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const MAX_PAYLOAD_BYTES = 7_900;

/**
 * Messages between the processes that share a database, over LISTEN/NOTIFY. While `live`, every published message
 * arrives. The reset handlers run when that can no longer be guaranteed, and again once it can, because messages may
 * have been missed.
 */
export class PostgresSignals {
  readonly #url: string;
  readonly #beatMs: number;
  readonly #database: Database;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #resets = new Set<() => unknown>();
  /** Pending promises of handlers. */
  readonly #work = new Set<Promise<unknown>>();
  #link: ListenLink | undefined;
  #up: PromiseWithResolvers<void> = Promise.withResolvers();
  #isUp = false;
  #heardAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** Sends a heartbeat every `beatMs` milliseconds, whose answer may take as long as caches are trusted. */
  constructor(url: string, database: Database, beatMs = BEAT_MS) {
    this.#url = url;
    this.#beatMs = beatMs;
    this.#database = database;
    this.#connect();
  }

  /** Whether every message published from now on arrives, or its loss is noticed within seconds. */
  get live(): boolean {
    // A process that was suspended for long finds its last heartbeat too old, and trusts nothing before the next one.
    return this.#isUp && performance.now() - this.#heardAt < this.#trustMs;
  }

  /** How long after its last heartbeat a process still trusts its caches, in milliseconds. */
  get #trustMs(): number {
    return 3 * this.#beatMs + PATIENCE_MS;
  }

  /** Resolves once live. */
  whenLive(): Promise<void> {
    return this.#up.promise;
  }

  /** Calls the handler with each message on a channel. Returns a function that unsubscribes. */
  subscribe(channel: string, handler: Handler): () => void {
    const known = this.#handlers.get(channel);
    if (known) known.add(handler);
    else {
      this.#handlers.set(channel, new Set([handler]));
      if (this.#link && this.#isUp) this.#note(this.#listenAnew(this.#link));
    }
    return () => this.#handlers.get(channel)?.delete(handler);
  }

  /** Calls the handler whenever messages may have been missed. Returns a function that unsubscribes. */
  onReset(handler: () => unknown): () => void {
    this.#resets.add(handler);
    return () => this.#resets.delete(handler);
  }

  /**
   * Sends a message of at most 7,900 bytes to every process, including this one. Throws `message_too_long` above that.
   */
  async publish(channel: string, payload: string): Promise<void> {
    if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) {
      throw invalid("message_too_long", "Cannot publish this message: it is too long. Send a reference to it instead");
    }
    await this.#database.run((sql) => sql`select pg_notify(${channel}, ${payload})`);
  }

  /**
   * Resolves once every process has handled all messages published before the call, or can no longer be live. If this
   * process has not handled them, its reset handlers run.
   */
  async settled(limitMs = this.#trustMs): Promise<void> {
    const link = this.#link;
    if (!link || !this.#isUp) return;
    try {
      await withTimeout(2 * limitMs, link.echo(limitMs));
    } catch {
      void this.#reset();
    }
  }

  /**
   * Resolves with `true` once every process has finished handling all messages published before the call, including the
   * promises of its handlers, or with `false` after `limitMs`. Ignores processes that do not respond at all within
   * twenty seconds.
   */
  async handled(limitMs: number): Promise<boolean> {
    const giveUpAt = performance.now() + limitMs;
    try {
      await withTimeout(limitMs, this.whenLive());
      // A process that only has to answer gets as long as ever, however short the limit is.
      await this.settled(Math.max(this.#trustMs, Math.min(limitMs, HUNG_MS)));
      return (await this.#link?.allHandled(Math.max(0, giveUpAt - performance.now()))) ?? false;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#link?.close();
  }

  #connect(): void {
    const link = listenLink(this.#url, {
      onNotify: (channel, payload) => {
        for (const handler of this.#handlers.get(channel) ?? []) this.#note(handler(payload));
      },
      onLost: () => this.#lost(link),
      // Handlers that start later belong to later messages.
      workDone: () => Promise.all(this.#work),
    });
    this.#link = link;
    this.#note(this.#bringUp(link));
  }

  async #bringUp(link: ListenLink): Promise<void> {
    try {
      await withTimeout(CONNECT_LIMIT_MS, this.#listen(link));
    } catch {
      link.close();
      return;
    }
    if (this.#link !== link) return;
    this.#isUp = true;
    this.#heardAt = performance.now();
    this.#retryMs = FIRST_RETRY_MS;
    const reset = this.#reset();
    this.#up.resolve();
    this.#beatLater(link);
    await reset;
  }

  #beatLater(link: ListenLink): void {
    this.#timer = setTimeout(async () => {
      const sentAt = performance.now();
      try {
        await withTimeout(this.#trustMs - this.#beatMs, link.answers());
      } catch {
        link.close();
        return;
      }
      this.#heardAt = sentAt;
      if (this.#link === link) this.#beatLater(link);
    }, this.#beatMs);
    this.#timer.unref();
  }

  /** Listens to every channel, including those subscribed to meanwhile. */
  async #listen(link: ListenLink): Promise<void> {
    for (let listened = -1; listened !== this.#handlers.size;) {
      listened = this.#handlers.size;
      await link.listen(this.#handlers.keys());
    }
  }

  async #listenAnew(link: ListenLink): Promise<void> {
    try {
      await withTimeout(CONNECT_LIMIT_MS, this.#listen(link));
    } catch {
      link.close();
      return;
    }
    await this.#reset();
  }

  #lost(link: ListenLink): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    clearTimeout(this.#timer);
    if (this.#isUp) {
      this.#isUp = false;
      this.#up = Promise.withResolvers();
      void this.#reset();
    }
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs * (0.5 + Math.random() / 2));
    this.#timer.unref();
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /** Calls all reset handlers at once and resolves when they are done. */
  async #reset(): Promise<void> {
    await Promise.all([...this.#resets].map((handler) => this.#note(handler())));
  }

  /** Tracks a promise until it settles. Rejections count as done. */
  #note(work: unknown): Promise<void> {
    if (!(work instanceof Promise)) return Promise.resolve();
    const done = work.then(
      () => {},
      () => {},
    );
    this.#work.add(done);
    return done.finally(() => this.#work.delete(done));
  }
}

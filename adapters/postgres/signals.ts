import { invalid } from "../../domain/failure.ts";
import type { Database } from "./database.ts";
import { listenLink, type ListenLink } from "./listen_link.ts";
import { within } from "./within.ts";

/** What it returns, where that is a promise, tells when it is done with the message. */
type Handler = (payload: string) => unknown;

const BEAT_MS = 2_000;
const CONNECT_LIMIT_MS = 5_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const MAX_PAYLOAD_BYTES = 7_900;

/**
 * Messages between the processes that share a database. While `live`, everything published arrives; when that cannot be
 * promised any more, and again when it can, the reset handlers are told, since messages may have been missed.
 */
export class PostgresSignals {
  readonly #url: string;
  readonly #beatMs: number;
  readonly #database: Database;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #resets = new Set<() => unknown>();
  /** What handlers are still at. */
  readonly #work = new Set<Promise<unknown>>();
  #link: ListenLink | undefined;
  #up: PromiseWithResolvers<void> = Promise.withResolvers();
  #isUp = false;
  #heardAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** Asks every `beatMs` whether the connection still answers, and waits as long for the answer. */
  constructor(url: string, database: Database, beatMs = BEAT_MS) {
    this.#url = url;
    this.#beatMs = beatMs;
    this.#database = database;
    this.#connect();
  }

  /** Whether every message published from now on is sure to arrive, or its loss to be noticed within seconds. */
  get live(): boolean {
    // A process that was stopped for long finds its last heartbeat too old, and trusts nothing before the next one.
    return this.#isUp && performance.now() - this.#heardAt < this.#trustMs;
  }

  /** How long after its last heartbeat a process still trusts its memory. */
  get #trustMs(): number {
    return 2 * this.#beatMs + 1_000;
  }

  /** Resolves once live. */
  whenLive(): Promise<void> {
    return this.#up.promise;
  }

  /** Calls the handler with each message on a channel; returns how to stop. */
  subscribe(channel: string, handler: Handler): () => void {
    const known = this.#handlers.get(channel);
    if (known) known.add(handler);
    else {
      this.#handlers.set(channel, new Set([handler]));
      if (this.#link && this.#isUp) this.#note(this.#listenAnew(this.#link));
    }
    return () => this.#handlers.get(channel)?.delete(handler);
  }

  /** Calls the handler whenever messages may have been missed. */
  onReset(handler: () => unknown): () => void {
    this.#resets.add(handler);
    return () => this.#resets.delete(handler);
  }

  /** Sends a message of at most 7,900 bytes to every process, this one included. */
  async publish(channel: string, payload: string): Promise<void> {
    if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) {
      throw invalid("message_too_long", "Cannot publish this message: it is too long. Send a reference to it instead");
    }
    await this.#database.run((sql) => sql`select pg_notify(${channel}, ${payload})`);
  }

  /**
   * Resolves once every process handled all messages that were published before the call, or cannot be live any more; this
   * one's reset handlers ran if it did not.
   */
  async settled(): Promise<void> {
    const link = this.#link;
    if (!link || !this.#isUp) return;
    try {
      await within(2 * this.#trustMs, link.echo(this.#trustMs));
    } catch {
      void this.#reset();
    }
  }

  /**
   * Resolves to `true` once every process is done with all messages that were published before the call, also with what
   * its handlers promised; to `false` after `limitMs`. Processes that do not answer at all are left out, as by
   * `settled`.
   */
  async handled(limitMs: number): Promise<boolean> {
    const giveUpAt = performance.now() + limitMs;
    try {
      await within(limitMs, this.whenLive());
      await this.settled();
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
      // Those that begin later belong to later messages.
      workDone: () => Promise.all(this.#work),
    });
    this.#link = link;
    this.#note(this.#bringUp(link));
  }

  async #bringUp(link: ListenLink): Promise<void> {
    try {
      await within(CONNECT_LIMIT_MS, this.#listen(link));
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
        await within(this.#beatMs, link.answers());
      } catch {
        link.close();
        return;
      }
      this.#heardAt = sentAt;
      if (this.#link === link) this.#beatLater(link);
    }, this.#beatMs);
    this.#timer.unref();
  }

  /** Listens to every channel, also to those that are subscribed to meanwhile. */
  async #listen(link: ListenLink): Promise<void> {
    for (let listened = -1; listened !== this.#handlers.size;) {
      listened = this.#handlers.size;
      await link.listen(this.#handlers.keys());
    }
  }

  async #listenAnew(link: ListenLink): Promise<void> {
    try {
      await within(CONNECT_LIMIT_MS, this.#listen(link));
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

  /** Resolves once the reset handlers are done; all of them were called before. */
  async #reset(): Promise<void> {
    await Promise.all([...this.#resets].map((handler) => this.#note(handler())));
  }

  /** Remembers work until it is done, however it ends. */
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

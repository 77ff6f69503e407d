import postgres from "postgres";
import { connectionOptions } from "./connection_options.ts";
import type { Sql } from "./database.ts";
import { withTimeout } from "../shared/deadline.ts";

/** One listening connection (LISTEN). It never reconnects by itself. */
export interface ListenLink {
  /**
   * Resolves once every listening process has received a notification sent now, and so handled every earlier one, or
   * stayed silent for `limitMs`. Rejects when this process did not receive it, or lost its connection.
   */
  echo(limitMs: number): Promise<void>;
  /**
   * Resolves with `true` once every listening process has finished handling every earlier notification, or with `false`
   * after `limitMs`.
   */
  allHandled(limitMs: number): Promise<boolean>;
  /** Resolves once the connection responds. Unlike an echo, it writes nothing. */
  answers(): Promise<void>;
  listen(channels: Iterable<string>): Promise<void>;
  close(): void;
}

export interface ListenLinkEvents {
  readonly onNotify: (channel: string, payload: string) => void;
  /** Called once, when the connection broke or was closed. */
  readonly onLost: () => void;
  /** Resolves once this process has finished handling every notification so far. */
  readonly workDone: () => Promise<unknown>;
}

/** An echo, with the names of the processes that have not acknowledged it yet. */
interface Echo {
  readonly awaited: Set<string>;
  readonly heard: PromiseWithResolvers<void>;
}

const NAME = "slipway-listen";
const ECHO = "slipway_echo";
const HEARD = "slipway_heard";
/** Suffix of the id of an echo to acknowledge only after the work is done. */
const WHEN_DONE = "/done";
const LOOK_AGAIN_MS = 200;

/** Creates a dedicated connection. The first statement opens it. */
export function listenLink(url: string, events: ListenLinkEvents): ListenLink {
  return new PostgresListenLink(url, events);
}

class PostgresListenLink implements ListenLink {
  readonly #events: ListenLinkEvents;
  readonly #sql: Sql;
  /** The name (`application_name`) by which other processes find this one, set once it listens. */
  readonly #name = `${NAME} ${crypto.randomUUID()}`;
  readonly #echoes = new Map<string, Echo>();
  /** Processes that did not acknowledge an echo. Later echoes do not wait for them until they acknowledge one. */
  readonly #silent = new Set<string>();
  #lost = false;

  constructor(url: string, events: ListenLinkEvents) {
    this.#events = events;
    // postgres.js' own listen() reconnects silently, so that notifications sent meanwhile would be missed unnoticed.
    const options = {
      ...connectionOptions(url),
      max: 1,
      connection: { application_name: NAME },
      onclose: () => this.close(),
      onnotify: (channel: string, payload: string) => this.#notified(channel, payload),
    };
    this.#sql = postgres(url, options) as unknown as Sql;
  }

  async echo(limitMs: number): Promise<void> {
    const silent = await this.#unanswered("", limitMs);
    if (silent.has(this.#name)) throw lostConnection();
    for (const name of silent) this.#silent.add(name);
  }

  async allHandled(limitMs: number): Promise<boolean> {
    return (await this.#unanswered(WHEN_DONE, limitMs)).size === 0;
  }

  /**
   * Returns the processes that did not acknowledge an echo of this kind in time. Does not wait for known silent ones.
   */
  async #unanswered(kind: "" | typeof WHEN_DONE, limitMs: number): Promise<ReadonlySet<string>> {
    if (this.#lost) throw lostConnection();
    const id = crypto.randomUUID();
    // Read before sending: every current listener receives the echo, and later ones start with an empty cache.
    const awaited = new Set(await this.#listeners()).difference(this.#silent);
    const echo = { awaited, heard: Promise.withResolvers<void>() };
    this.#echoes.set(id, echo);
    try {
      const giveUpAt = performance.now() + limitMs;
      await this.#sql`select pg_notify(${ECHO}, ${id + kind})`;
      while (awaited.size > 0 && performance.now() < giveUpAt) {
        await withTimeout(LOOK_AGAIN_MS, echo.heard.promise).catch(() => {});
        if (awaited.size > 0) await this.#forgetEnded(awaited);
      }
    } finally {
      this.#echoes.delete(id);
    }
    if (this.#lost) throw lostConnection();
    return awaited;
  }

  async answers(): Promise<void> {
    await this.#sql`select 1`;
    if (this.#lost) throw lostConnection();
  }

  async listen(channels: Iterable<string>): Promise<void> {
    const names = [ECHO, HEARD, ...channels].map((name) => `listen "${name.replaceAll('"', '""')}"`);
    await this.#sql.unsafe(names.join(";"));
    await this.#sql`select set_config('application_name', ${this.#name}, false)`;
  }

  close(): void {
    if (this.#lost) return;
    this.#lost = true;
    for (const { heard } of this.#echoes.values()) heard.resolve();
    void this.#sql.end({ timeout: 0 }).catch(() => {});
    this.#events.onLost();
  }

  #notified(channel: string, payload: string): void {
    if (this.#lost) return;
    if (channel === ECHO) {
      const [id = ""] = payload.split("/");
      if (!payload.endsWith(WHEN_DONE)) this.#answer(id);
      else void this.#events.workDone().then(() => this.#answer(id));
    } else if (channel === HEARD) {
      const [id = ""] = payload.split("/");
      const name = payload.slice(payload.lastIndexOf("/") + 1);
      this.#silent.delete(name);
      this.#hear(id, name);
    } else {
      this.#events.onNotify(channel, payload);
    }
  }

  #answer(id: string): void {
    if (!this.#lost && !this.#hear(id, this.#name)) this.#tellHeard(id);
  }

  /** Records that a process acknowledged an echo. Returns `false` when another process sent the echo. */
  #hear(id: string, name: string): boolean {
    const echo = this.#echoes.get(id);
    echo?.awaited.delete(name);
    if (echo?.awaited.size === 0) echo.heard.resolve();
    return echo !== undefined;
  }

  #tellHeard(id: string): void {
    void this.#sql`select pg_notify(${HEARD}, ${`${id}/${this.#name}`})`.catch(() => {});
  }

  async #listeners(): Promise<readonly string[]> {
    const rows = await this.#sql<{ name: string }[]>`
      select application_name as name from pg_stat_activity
      where datname = current_database() and starts_with(application_name, ${`${NAME} `})`;
    return rows.map(({ name }) => name);
  }

  async #forgetEnded(awaited: Set<string>): Promise<void> {
    const there = new Set(await this.#listeners());
    for (const name of awaited) if (!there.has(name)) awaited.delete(name);
  }
}

function lostConnection(): Error {
  return new Error("the listening connection is lost");
}

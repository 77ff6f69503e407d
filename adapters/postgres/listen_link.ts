import postgres from "postgres";
import { connectionOptions } from "./connection_options.ts";
import type { Sql } from "./database.ts";
import { within } from "./within.ts";

/** One connection that listens, for as long as it lasts; it never connects again by itself. */
export interface ListenLink {
  /**
   * Resolves once every process that listens has heard a notification sent now, and so handled every earlier one, or kept
   * silent for `limitMs`. Rejects when this one did not hear it, or lost its connection.
   */
  echo(limitMs: number): Promise<void>;
  /**
   * Resolves to `true` once every process that listens is done with every earlier notification, to `false` after
   * `limitMs`.
   */
  allHandled(limitMs: number): Promise<boolean>;
  /** Resolves once the connection answered; unlike an echo it writes nothing. */
  answers(): Promise<void>;
  listen(channels: Iterable<string>): Promise<void>;
  close(): void;
}

export interface ListenLinkEvents {
  readonly onNotify: (channel: string, payload: string) => void;
  /** Called once, when the connection broke or was closed. */
  readonly onLost: () => void;
  /** Resolves once this process is done with every notification so far. */
  readonly workDone: () => Promise<unknown>;
}

/** Who has not answered an echo yet. */
interface Echo {
  readonly awaited: Set<string>;
  readonly heard: PromiseWithResolvers<void>;
}

const NAME = "slipway-listen";
const ECHO = "slipway_echo";
const HEARD = "slipway_heard";
/** Follows the id of an echo that is to be answered only when the work is done. */
const WHEN_DONE = "/done";
const LOOK_AGAIN_MS = 200;

/** Makes a connection of its own; the first statement opens it. */
export function listenLink(url: string, events: ListenLinkEvents): ListenLink {
  return new PostgresListenLink(url, events);
}

class PostgresListenLink implements ListenLink {
  readonly #events: ListenLinkEvents;
  readonly #sql: Sql;
  /** What other processes know it by, as soon as it listens. */
  readonly #name = `${NAME} ${crypto.randomUUID()}`;
  readonly #echoes = new Map<string, Echo>();
  /** Processes that did not answer, until they do; nobody waits for them again. */
  readonly #silent = new Set<string>();
  #lost = false;

  constructor(url: string, events: ListenLinkEvents) {
    this.#events = events;
    // Its own listen() connects again without a word, and what was sent meanwhile is missed unnoticed.
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

  /** Who has not answered an echo of this kind in time; nobody waits for those that are known to be silent. */
  async #unanswered(kind: "" | typeof WHEN_DONE, limitMs: number): Promise<ReadonlySet<string>> {
    if (this.#lost) throw lostConnection();
    const id = crypto.randomUUID();
    // Asked first: whoever listens by now hears the echo, and whoever begins later starts with an empty memory.
    const awaited = new Set(await this.#listeners()).difference(this.#silent);
    const echo = { awaited, heard: Promise.withResolvers<void>() };
    this.#echoes.set(id, echo);
    try {
      const giveUpAt = performance.now() + limitMs;
      await this.#sql`select pg_notify(${ECHO}, ${id + kind})`;
      while (awaited.size > 0 && performance.now() < giveUpAt) {
        await within(LOOK_AGAIN_MS, echo.heard.promise).catch(() => {});
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

  /** Notes that a process heard an echo; `false` when the echo is another's. */
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

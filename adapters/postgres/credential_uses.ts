import type { Identity } from "../../domain/identity/identity.ts";
import type { Database } from "./database.ts";
import { withTimeout } from "../shared/deadline.ts";

interface Use {
  readonly at: Date;
  readonly count: number;
}

const WRITE_MS = 5_000;
const LAST_WRITE_MS = 2_000;

/** Buffers uses of credentials and writes them periodically, all in one statement. */
export class CredentialUses {
  readonly #database: Database;
  readonly #timer: ReturnType<typeof setInterval>;
  #uses = { token: new Map<string, Use>(), session: new Map<string, Use>() };

  constructor(database: Database, everyMs = WRITE_MS) {
    this.#database = database;
    this.#timer = setInterval(() => void this.#write().catch(() => {}), everyMs);
    this.#timer.unref();
  }

  note({ kind, id }: Identity["credential"], at: Date, count = 1): void {
    const uses = this.#uses[kind];
    const known = uses.get(id);
    uses.set(id, { at: known && known.at > at ? known.at : at, count: (known?.count ?? 0) + count });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await withTimeout(LAST_WRITE_MS, this.#write()).catch(() => {});
  }

  async #write(): Promise<void> {
    const { token, session } = this.#uses;
    if (token.size + session.size === 0) return;
    this.#uses = { token: new Map(), session: new Map() };
    const tokens = [...token];
    const sessions = [...session];
    try {
      // Locks rows in a fixed order, so that two processes that write the same rows cannot deadlock.
      await this.#database.run(
        (sql) => sql`
          with used_tokens as (
            select t.id, used.at, used.count
            from unnest(
              ${tokens.map(([id]) => id)}::text[],
              ${tokens.map(([, { at }]) => at.toISOString())}::text[]::timestamptz[],
              ${tokens.map(([, { count }]) => String(count))}::text[]::bigint[]
            ) as used (id, at, count)
            join tokens t on t.id = used.id
            order by t.id for no key update of t
          ), used_sessions as (
            select s.id, used.at
            from unnest(
              ${sessions.map(([id]) => id)}::text[],
              ${sessions.map(([, { at }]) => at.toISOString())}::text[]::timestamptz[]
            ) as used (id, at)
            join sessions s on s.id = used.id
            order by s.id for no key update of s
          ), written_tokens as (
            update tokens t
            set last_used_at = greatest(t.last_used_at, used.at), use_count = t.use_count + used.count
            from used_tokens used where used.id = t.id
          )
          update sessions s set last_used_at = greatest(s.last_used_at, used.at)
          from used_sessions used where used.id = s.id`,
      );
    } catch (error) {
      for (const [id, { at, count }] of tokens) this.note({ kind: "token", id }, at, count);
      for (const [id, { at, count }] of sessions) this.note({ kind: "session", id }, at, count);
      throw error;
    }
  }
}

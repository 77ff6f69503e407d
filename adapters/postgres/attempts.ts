import type { AttemptLimit, Attempts } from "../../ports/identity/attempts.ts";
import { boundedKey } from "./bounded_key.ts";
import type { Database } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";

/** Counts attempts (rate limits) in PostgreSQL, in windows that begin with their first attempt. */
export class PostgresAttempts implements Attempts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(key: string, { limit, windowMs }: AttemptLimit): Promise<number> {
    const bounded = boundedKey(key);
    // The count stops at one above the limit, which stands for any number of refused attempts.
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number; left_ms: number }[]>`
        insert into attempts as known (key, count, ends_at) values (${bounded}, 1, now() + ${milliseconds(sql, windowMs)})
        on conflict (key) do update set
          count = case when known.ends_at <= now() then 1 else least(known.count, ${limit}) + 1 end,
          ends_at = case when known.ends_at <= now() then excluded.ends_at else known.ends_at end
        returning count, extract(epoch from ends_at - now())::double precision * 1000 as left_ms`,
    );
    if (!row || row.count <= limit) return 0;
    return Math.max(1, Math.ceil(row.left_ms / 1_000));
  }

  async giveBack(key: string, { limit }: AttemptLimit): Promise<void> {
    const bounded = boundedKey(key);
    await this.#database.run(
      (sql) => sql`
        update attempts set count = greatest(least(count, ${limit}) - 1, 0)
        where key = ${bounded} and ends_at > now()`,
    );
  }

  async sweep(endedMs: number): Promise<number> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from attempts where ends_at < now() - ${milliseconds(sql, endedMs)}`,
    );
    return count;
  }
}

import type { AttemptLimit, Attempts } from "../../ports/attempts.ts";
import { boundedKey } from "./bounded_key.ts";
import type { Database } from "./database.ts";

/** Counts attempts in PostgreSQL, in windows that begin with their first attempt. */
export class PostgresAttempts implements Attempts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(key: string, { limit, windowMs }: AttemptLimit, at: Date): Promise<number> {
    const bounded = boundedKey(key);
    const endsAt = new Date(at.getTime() + windowMs);
    // One more than the limit stands for any number of refused attempts.
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number; ends_at: Date }[]>`
        insert into attempts as known (key, count, ends_at) values (${bounded}, 1, ${endsAt})
        on conflict (key) do update set
          count = case when known.ends_at <= ${at} then 1 else least(known.count, ${limit}) + 1 end,
          ends_at = case when known.ends_at <= ${at} then excluded.ends_at else known.ends_at end
        returning count, ends_at`,
    );
    if (!row || row.count <= limit) return 0;
    return Math.max(1, Math.ceil((row.ends_at.getTime() - at.getTime()) / 1_000));
  }

  async giveBack(key: string, { limit }: AttemptLimit, at: Date): Promise<void> {
    const bounded = boundedKey(key);
    await this.#database.run(
      (sql) => sql`
        update attempts set count = greatest(least(count, ${limit}) - 1, 0)
        where key = ${bounded} and ends_at > ${at}`,
    );
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run((sql) => sql`delete from attempts where ends_at < ${before}`);
    return count;
  }
}

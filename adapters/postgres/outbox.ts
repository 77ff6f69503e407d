import type { Outbox, OutboxEntry } from "../../ports/githost/outbox.ts";
import type { Database, Sql } from "./database.ts";
import { milliseconds } from "./milliseconds.ts";
import type { PostgresSignals } from "./signals.ts";

type Fragment = ReturnType<Sql>;

/** A table that is an outbox: it has the columns "attempt", "failures", "due_at" and "lease_until" besides these. */
export interface OutboxTable<Row extends object, Entry extends OutboxEntry> {
  readonly table: string;
  /** The columns of the primary key. */
  readonly keys: readonly (keyof Row & string)[];
  /** The columns of an entry. */
  readonly columns: readonly (keyof Row & string)[];
  /** The NOTIFY channel on which a trigger announces that there is something to report. */
  readonly channel: string;
  toEntry(row: Row): Entry;
  /** The condition that a row is the one of an entry. */
  isRow(sql: Sql, entry: Entry): Fragment;
  /** The condition that there is nothing new to report since an entry was taken. */
  isSame(sql: Sql, entry: Entry): Fragment;
  /** What is also stored when an entry is finished, as assignments that end with a comma. */
  readonly alsoStored?: (sql: Sql, entry: Entry) => Fragment;
}

/** An outbox in PostgreSQL, which triggers fill. */
export class PostgresOutbox<Row extends object, Entry extends OutboxEntry> implements Outbox<Entry> {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #table: OutboxTable<Row, Entry>;

  constructor(database: Database, signals: PostgresSignals, table: OutboxTable<Row, Entry>) {
    this.#database = database;
    this.#signals = signals;
    this.#table = table;
    // Listens from the start, so that no notification is missed between the first handler and its LISTEN.
    signals.subscribe(table.channel, () => {});
  }

  async take(leaseMs: number): Promise<Entry | undefined> {
    const { table, columns, toEntry } = this.#table;
    const keys: string[] = [...this.#table.keys];
    const [row] = await this.#database.run(
      (sql) => sql<Row[]>`
        with due as (
          select ${sql(keys)} from ${sql(table)}
          where due_at <= now() and (lease_until is null or lease_until <= now())
          order by due_at limit 1 for update skip locked
        )
        update ${sql(table)} as taken
        set attempt = attempt + 1, lease_until = now() + ${milliseconds(sql, leaseMs)}
        from due
        where (${sql(keys.map((key) => `taken.${key}`))}) = (${sql(keys.map((key) => `due.${key}`))})
        returning ${sql(columns.map((column) => `taken.${column}`))}`,
    );
    return row && toEntry(row as Row);
  }

  async finish(entry: Entry): Promise<void> {
    const { table, alsoStored, isRow, isSame } = this.#table;
    await this.#database.run(
      (sql) => sql`
        update ${sql(table)}
        set ${alsoStored?.(sql, entry) ?? sql``}
          due_at = case when ${isHeld(sql, entry)} and ${isSame(sql, entry)} then null else now() end,
          lease_until = case when ${isHeld(sql, entry)} then null else lease_until end,
          attempt = case when ${isHeld(sql, entry)} then attempt else attempt + 1 end
        where ${isRow(sql, entry)}`,
    );
  }

  async retry(
    entry: Entry,
    { afterMs, failures }: { readonly afterMs: number; readonly failures: number },
  ): Promise<void> {
    const { table, isRow, isSame } = this.#table;
    await this.#database.run(
      (sql) => sql`
        update ${sql(table)}
        set due_at = now() + ${milliseconds(sql, afterMs)}, lease_until = null,
          failures = case when ${isSame(sql, entry)} then ${failures}::integer else 0 end
        where ${isRow(sql, entry)} and ${isHeld(sql, entry)}`,
    );
  }

  async nextDueMs(): Promise<number | null> {
    const [row] = await this.#database.run(
      (sql) => sql<{ ms: number | null }[]>`
        select greatest(extract(epoch from min(greatest(due_at, lease_until)) - now()) * 1000, 0)::double precision as ms
        from ${sql(this.#table.table)} where due_at is not null
        having count(*) > 0`,
    );
    return row?.ms ?? null;
  }

  onDue(handler: () => void): () => void {
    const { channel } = this.#table;
    const stops = [this.#signals.subscribe(channel, () => handler()), this.#signals.onReset(() => handler())];
    return () => stops.forEach((stop) => stop());
  }
}

function isHeld(sql: Sql, { attempt }: OutboxEntry) {
  return sql`(attempt = ${attempt}::integer)`;
}

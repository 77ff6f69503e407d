import type postgres from "postgres";
import type { Listing, Page } from "../../domain/page.ts";
import type { Database, Sql } from "./database.ts";
import type { ReadMemory } from "./read_memory.ts";

/** The parts of a statement that lists rows. */
export interface PageQuery {
  readonly columns: postgres.Fragment;
  /** Tables and conditions. */
  readonly from: postgres.Fragment;
  /** Names of columns among `columns`. */
  readonly order: postgres.Fragment;
  /** The number of all rows. By default they are counted. */
  readonly total?: postgres.Fragment;
}

/** A statement whose result is remembered. Its `from` ends with a condition. */
export interface RememberedQuery extends PageQuery {
  /** Text that differs whenever what is listed of a row does. */
  readonly version: postgres.Fragment;
}

/** What a statement whose result is remembered returns besides the row, which is all `null` if it is known. */
interface Found {
  readonly found_version: string;
  readonly listed: true | null;
}

/** Reads one page of rows and the total count with one statement. The total is also right past the last page. */
export async function readPage<Row extends object, T>(
  database: Database,
  page: Page,
  query: (sql: Sql) => PageQuery,
  toItem: (row: Row) => T,
): Promise<Listing<T>> {
  const rows = await database.run((sql) => {
    const { columns, from, order, total = counted(sql, from) } = query(sql);
    return sql<(Row & { readonly total: number; readonly listed: true | null })[]>`
      select counted.total, listed.*
      from (select ${total} as total) as counted
      left join (select true as listed, ${columns} from ${from} order by ${order} ${limits(sql, page)}) as listed on true
      order by ${order}`;
  });
  const total = rows[0]?.total ?? 0;
  return { items: rows[0]?.listed ? rows.map(toItem) : [], total };
}

/**
 * Reads a page as `readPage` does. If no row of it has changed since the last read with the same key, the rows are not
 * sent, and the items are the same objects as before.
 */
export function readKnownPage<Row extends object, T>(
  database: Database,
  { key, page, memory }: { readonly key: string; readonly page: Page; readonly memory: ReadMemory<readonly T[]> },
  query: (sql: Sql) => RememberedQuery,
  toItem: (row: Row) => T,
): Promise<Listing<T>> {
  const whole = `${page.page} ${page.perPage} ${key}`;
  return memory.share(whole, async () => {
    const { epoch } = database;
    const known = memory.get(whole, epoch);
    const rows = await database.run((sql) => {
      const { columns, from, order, version, total = counted(sql, from) } = query(sql);
      return sql<(Row & Found & { readonly total: number })[]>`
      with found as materialized (
        select coalesce(md5(string_agg(row_version, ',')), '') as found_version
        from (select ${version} as row_version from ${from} order by ${order} ${limits(sql, page)}) as versions
      )
      select ${total} as total, found_version, listed.*
      from found left join lateral (
        select true as listed, ${columns} from ${from} and found_version <> ${known?.version ?? "none"}
        order by ${order} ${limits(sql, page)}
      ) as listed on true
      order by ${order}`;
    });
    const { total = 0, found_version: version = "" } = rows[0] ?? {};
    if (known?.version === version) return { items: known.result, total };
    const items = rows[0]?.listed ? rows.map(toItem) : [];
    memory.set(whole, { version, result: items, rows: items.length, epoch });
    return { items, total };
  });
}

/**
 * Reads one row, or `undefined`. If it has not changed since the last read with the same key, the item is the same
 * object as before. The statement need not return what is costly to send, if the row still has the `known` version. It
 * is one template without fragments, each of which would take as long as the rest of building it.
 */
export function readKnownRow<Row extends object, T>(
  database: Database,
  { key, memory }: { readonly key: string; readonly memory: ReadMemory<T> },
  statement: (sql: Sql, known: string) => PromiseLike<readonly (Row & Pick<Found, "found_version">)[]>,
  toItem: (row: Row) => T,
): Promise<T | undefined> {
  return memory.share(key, async () => {
    const { epoch } = database;
    const known = memory.get(key, epoch);
    const [row] = await database.run((sql) => statement(sql, known?.version ?? ""));
    if (!row) return undefined;
    if (known?.version === row.found_version) return known.result;
    const result = toItem(row);
    memory.set(key, { version: row.found_version, result, rows: 1, epoch });
    return result;
  });
}

function counted(sql: Sql, from: postgres.Fragment): postgres.Fragment {
  return sql`(select count(*) from ${from})`;
}

/** As a number in the text: PostgreSQL would plan the statement each time if it did not know how few rows are wanted. */
function limits(sql: Sql, { page, perPage }: Page): postgres.Fragment {
  const limit = sql.unsafe(`limit ${Math.trunc(perPage)}`);
  if (page === 1) return sql`${limit}`;
  return sql`${limit} offset ${Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)}`;
}

import type postgres from "postgres";
import type { Listing, Page } from "../../domain/page.ts";
import type { Database, Sql } from "./database.ts";

/** The parts of a statement that lists rows. */
export interface PageQuery {
  readonly columns: postgres.Fragment;
  /** Tables and conditions. */
  readonly from: postgres.Fragment;
  /** Names of columns among `columns`. */
  readonly order: postgres.Fragment;
}

/** Reads one page of rows and the total count with one statement. The total is also right past the last page. */
export async function readPage<Row extends object, T>(
  database: Database,
  { page, perPage }: Page,
  query: (sql: Sql) => PageQuery,
  toItem: (row: Row) => T,
): Promise<Listing<T>> {
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const rows = await database.run((sql) => {
    const { columns, from, order } = query(sql);
    return sql<(Row & { readonly total: number; readonly listed: true | null })[]>`
      select counted.total, listed.*
      from (select count(*) as total from ${from}) as counted
      left join (select true as listed, ${columns} from ${from} order by ${order} limit ${perPage} offset ${offset}) as listed on true
      order by ${order}`;
  });
  const total = rows[0]?.total ?? 0;
  return { items: rows[0]?.listed ? rows.map(toItem) : [], total };
}

import type { Sql } from "./database.ts";

/** A span of time; with it a statement reckons by the clock of the database, which is one for all processes. */
export function milliseconds(sql: Sql, count: number) {
  return sql`(${count}::double precision * interval '1 millisecond')`;
}

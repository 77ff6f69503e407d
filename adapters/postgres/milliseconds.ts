import type { Sql } from "./database.ts";

/** Returns an interval. Statements compute times with it by the database clock, which all processes share. */
export function milliseconds(sql: Sql, count: number) {
  return sql`(${count}::double precision * interval '1 millisecond')`;
}

import type postgres from "postgres";
import type { Sql } from "./database.ts";

/** Passes a value as a JSON parameter, encoded once. */
export function jsonValue(sql: Sql, value: object | null): postgres.Parameter | null {
  return value === null ? null : sql.json(value as postgres.JSONValue);
}

import type { TSchema } from "@sinclair/typebox";
import type { Operation } from "./operation.ts";

/** What a route declares about its changes, and the query that it is called with. */
export interface ChangedRoute {
  readonly schema: TSchema | undefined;
  readonly changes: Operation["changes"];
  readonly query: string;
}

/**
 * Returns the names of what a body sets or deletes, for the audit log: its fields, or the result of the operation's
 * `changes`. Fields that the schema does not know are left out: they are made up, or a secret in the wrong place.
 */
export function changedNames(body: object | undefined, { schema, changes, query }: ChangedRoute): readonly string[] {
  if (body === undefined) return [];
  if (changes) return changes({ ...body }, new URLSearchParams(query));
  const known = (schema?.properties ?? {}) as Record<string, unknown>;
  return Object.keys(body).filter((name) => Object.hasOwn(known, name));
}

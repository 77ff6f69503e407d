import type { TSchema } from "@sinclair/typebox";
import type { Operation } from "./operation.ts";

/**
 * Returns the names of what a body sets or deletes, for the audit log: its fields, or the result of the operation's
 * `changes`. Fields that the schema does not know are left out: they are made up, or a secret in the wrong place.
 */
export function changedNames(
  body: object | undefined,
  { schema, changes }: { readonly schema: TSchema | undefined; readonly changes: Operation["changes"] },
): readonly string[] {
  if (body === undefined) return [];
  if (changes) return changes({ ...body });
  const known = (schema?.properties ?? {}) as Record<string, unknown>;
  return Object.keys(body).filter((name) => Object.hasOwn(known, name));
}

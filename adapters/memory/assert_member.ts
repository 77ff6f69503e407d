import { conflict } from "../../domain/failure.ts";
import { memberKey, type MemoryTables } from "./memory_tables.ts";

/** Throws a `conflict` failure, code `changed_meanwhile`, unless the user is a member of the organization. */
export function assertMember(
  tables: MemoryTables,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): void {
  if (tables.members.has(memberKey(organizationId, userId))) return;
  throw conflict("changed_meanwhile", "Cannot do this: a resource that it belongs to was removed meanwhile");
}

import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";
import { findDestination } from "./find_destination.ts";

/** Removes a backup destination from the database; the objects written there stay. */
export function removeDestination(ports: { readonly backupDestinations: BackupDestinations }) {
  const find = findDestination(ports);
  return async function (by: Principal, id: string): Promise<void> {
    await find(by, id, "backup_destination:admin");
    if (!(await ports.backupDestinations.remove(by.organizationId, id))) throw notFound("backup destination");
  };
}

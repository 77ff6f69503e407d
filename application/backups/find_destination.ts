import type { BackupDestination } from "../../domain/backups/destination.ts";
import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";

/** Finds a backup destination of the caller's organization and refuses a caller without the permission on it. */
export function findDestination({ backupDestinations }: { readonly backupDestinations: BackupDestinations }) {
  return async function (by: Principal, id: string, permission: Permission): Promise<BackupDestination> {
    const found = isId("bkd", id) ? await backupDestinations.find(by.organizationId, id) : undefined;
    if (!found) throw notFound("backup destination");
    demand(by, permission, { id });
    return found;
  };
}

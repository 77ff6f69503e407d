import type { BackupDestination } from "../../domain/backups/destination.ts";
import type { DestinationDraft } from "../../domain/backups/destination_input.ts";
import type { Permission, Principal } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";
import { findDestination } from "./find_destination.ts";

/** A stored destination and everything needed to open it, all of the same revision. */
export interface StoredDestination {
  readonly destination: BackupDestination;
  readonly draft: DestinationDraft;
}

/** Finds a destination like `findDestination`, with its secrets, and checks the permission. */
export function storedDestination(ports: { readonly backupDestinations: BackupDestinations }) {
  const find = findDestination(ports);
  return async function (by: Principal, id: string, permission: Permission): Promise<StoredDestination> {
    for (;;) {
      const destination = await find(by, id, permission);
      const { kind, credentialTargets } = destination;
      const credentials = await ports.backupDestinations.credentials(by.organizationId, destination);
      // Another caller changed the destination between the two reads: retry.
      if (!credentials) continue;
      return { destination, draft: { kind, settings: destination, credentials, credentialTargets } };
    }
  };
}

import type { BackupDestinations } from "./backup_destinations.ts";
import type { ObjectStorages } from "./object_storages.ts";

/** The backup ports that the application depends on. */
export interface BackupPorts {
  readonly backupDestinations: BackupDestinations;
  readonly objectStorages: ObjectStorages;
}

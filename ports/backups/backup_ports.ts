import type { BackupDestinations } from "./backup_destinations.ts";
import type { ObjectStorages } from "./object_storages.ts";

/** The ports of the folder that the application stands on. */
export interface BackupPorts {
  readonly backupDestinations: BackupDestinations;
  readonly objectStorages: ObjectStorages;
}

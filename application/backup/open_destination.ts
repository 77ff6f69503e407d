import type { BackupDestination } from "../../domain/backup/destination.ts";
import { notFound } from "../../domain/failure.ts";
import type { BackupDestinations } from "../../ports/backup_destinations.ts";
import type { ObjectStorage, StorageOptions } from "../../ports/object_storage.ts";
import type { ObjectStorages } from "../../ports/object_storages.ts";
import { limited } from "./storage/limited.ts";
import { prefixed } from "./storage/prefixed.ts";
import { type Patience, retrying } from "./storage/retrying.ts";
import { timed } from "./storage/timed.ts";
import { storageTarget, type StorageTargetPorts } from "./storage_target.ts";

export interface OpenDestinationPorts extends StorageTargetPorts {
  readonly backupDestinations: BackupDestinations;
  readonly objectStorages: ObjectStorages;
}

const IDLE_MS = 60_000;
const AT_ONCE = 8;
const PATIENCE: Patience = { attempts: 4, pauseMs: 500 };

/** Opens a stored destination for backups: under its prefix, patient with what passes, and never waiting for ever. */
export function openDestination(ports: OpenDestinationPorts) {
  const { backupDestinations, objectStorages } = ports;
  const targetOf = storageTarget(ports);
  return async function (
    destination: BackupDestination,
    options?: StorageOptions,
  ): Promise<ObjectStorage & AsyncDisposable> {
    const { organizationId, id, kind, pathPrefix } = destination;
    const credentials = await backupDestinations.credentials(organizationId, id);
    if (!credentials) throw notFound("backup destination");
    const storage = await objectStorages.open(
      await targetOf(organizationId, { kind, settings: destination, credentials }),
      options,
    );
    const store = limited(retrying(timed(prefixed(storage, pathPrefix), IDLE_MS), PATIENCE), AT_ONCE);
    return { ...store, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() };
  };
}

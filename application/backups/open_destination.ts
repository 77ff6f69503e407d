import type { DestinationDraft } from "../../domain/backups/destination_input.ts";
import type { StorageOptions } from "../../ports/backups/object_storage.ts";
import type { ObjectStorages, OpenStorage } from "../../ports/backups/object_storages.ts";
import { limited } from "./storage/limited.ts";
import { prefixed } from "./storage/prefixed.ts";
import { type RetryPolicy, retrying } from "./storage/retrying.ts";
import { timed } from "./storage/timed.ts";
import { storageTarget, type StorageTargetPorts } from "./storage_target.ts";

/** Retry, timeout and concurrency limits of an open destination. */
export interface StorageLimits extends RetryPolicy {
  /** Idle timeout: an operation fails when the store makes no progress for this long. */
  readonly idleMs: number;
  /** Maximum number of concurrent operations. */
  readonly atOnce: number;
}

export const STORAGE_LIMITS: StorageLimits = { attempts: 4, pauseMs: 500, idleMs: 60_000, atOnce: 8 };

export interface OpenDestinationPorts extends StorageTargetPorts {
  readonly objectStorages: ObjectStorages;
  readonly storageLimits?: StorageLimits;
}

/**
 * Opens a destination for backups and preflights alike: under its prefix, with retries, an idle timeout and a limit on
 * concurrent operations. Opening itself is not retried: to the other side, every attempt may be a failed login.
 */
export function openDestination(ports: OpenDestinationPorts) {
  const { objectStorages, storageLimits = STORAGE_LIMITS } = ports;
  const targetOf = storageTarget(ports);
  return async function (
    organizationId: string,
    draft: DestinationDraft,
    options?: StorageOptions,
  ): Promise<OpenStorage> {
    const storage = await objectStorages.open(await targetOf(organizationId, draft), options);
    const { idleMs, atOnce } = storageLimits;
    const inFolder = prefixed(storage, draft.settings.pathPrefix);
    const store = limited(retrying(timed(inFolder, idleMs), storageLimits), atOnce);
    return {
      ...store,
      hostKey: storage.hostKey,
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    };
  };
}

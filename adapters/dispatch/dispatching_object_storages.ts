import type { StorageOptions } from "../../ports/backups/object_storage.ts";
import type {
  BucketTarget,
  LocalFolderTarget,
  ObjectStorages,
  OpenStorage,
  RemoteFolderTarget,
  StorageTarget,
} from "../../ports/backups/object_storages.ts";

/** One adapter for each kind of target. */
export interface StoragesByKind {
  readonly bucket: ObjectStorages<BucketTarget>;
  readonly remoteFolder: ObjectStorages<RemoteFolderTarget>;
  readonly localFolder: ObjectStorages<LocalFolderTarget>;
}

/** Dispatches every target to the adapter of its kind. */
export class DispatchingObjectStorages implements ObjectStorages {
  readonly #byKind: StoragesByKind;

  constructor(byKind: StoragesByKind) {
    this.#byKind = byKind;
  }

  async open(target: StorageTarget, options?: StorageOptions): Promise<OpenStorage> {
    switch (target.kind) {
      case "bucket":
        return this.#byKind.bucket.open(target, options);
      case "remote_folder":
        return this.#byKind.remoteFolder.open(target, options);
      case "local_folder":
        return this.#byKind.localFolder.open(target, options);
    }
  }
}

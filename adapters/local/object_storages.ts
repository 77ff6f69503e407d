import type { LocalFolderTarget, ObjectStorages, OpenStorage } from "../../ports/backups/object_storages.ts";
import { LocalObjectStorage } from "./object_storage.ts";

/** Opens folders of this machine as stores. */
export class LocalObjectStorages implements ObjectStorages<LocalFolderTarget> {
  readonly #dataFolder: string;

  /** `dataFolder` is the service's own, in which nothing is ever written. */
  constructor({ dataFolder }: { readonly dataFolder: string }) {
    this.#dataFolder = dataFolder;
  }

  async open(target: LocalFolderTarget): Promise<OpenStorage> {
    return new LocalObjectStorage(target, this.#dataFolder);
  }
}

import type { LocalFolderTarget, ObjectStorages, OpenStorage } from "../../ports/backups/object_storages.ts";
import { LocalObjectStorage } from "./object_storage.ts";

/** Opens folders of this machine as object stores. */
export class LocalObjectStorages implements ObjectStorages<LocalFolderTarget> {
  readonly #dataFolder: string;

  /** `dataFolder` is the server's own data folder, which is never written to. */
  constructor({ dataFolder }: { readonly dataFolder: string }) {
    this.#dataFolder = dataFolder;
  }

  async open(target: LocalFolderTarget): Promise<OpenStorage> {
    return new LocalObjectStorage(target, this.#dataFolder);
  }
}

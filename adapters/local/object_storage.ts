import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { checkObjectKey, nameOfPart, partName, splitKey } from "../../domain/backups/object_key.ts";
import { drainStream } from "../../domain/backups/drain_stream.ts";
import type { ObjectPage, StoredObject } from "../../domain/backups/stored_object.ts";
import { listTree, sweepTree, type TreeChild, unfinishedIn } from "../../domain/backups/tree_listing.ts";
import type { ObjectListOptions, StorageOptions, SweepOptions } from "../../ports/backups/object_storage.ts";
import type { LocalFolderTarget, OpenStorage } from "../../ports/backups/object_storages.ts";
import { backupFailure } from "./backup_failure.ts";
import { backupFolder } from "./backup_folder.ts";
import type { FolderHandle } from "./folder_handle.ts";
import { errorCode } from "../shared/error_code.ts";

const PAGE = 1_000;
const CHUNK = 256 * 1024;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Error codes that mean that the object does not exist, whatever is in its place. */
const ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EISDIR"];

/** Stores objects as files of a folder, whose path is resolved and checked anew for every operation. */
export class LocalObjectStorage implements OpenStorage {
  readonly hostKey = null;
  readonly #target: LocalFolderTarget;
  readonly #dataFolder: string;

  /** `dataFolder` is the server's own data folder, which is never written to. */
  constructor(target: LocalFolderTarget, dataFolder: string) {
    this.#target = target;
    this.#dataFolder = dataFolder;
  }

  async put(key: string, content: ReadableStream<Uint8Array>, { signal }: StorageOptions = {}): Promise<number> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const { folder, name } = splitKey(key);
    const part = partName(name);
    await using home = await writing(() => this.#enter(folder, true));
    try {
      const bytes = await fill(home, part, { content, signal });
      signal?.throwIfAborted();
      await writing(() => home.rename(part, name));
      await writing(() => home.sync());
      return bytes;
    } catch (error) {
      void content.cancel(error).catch(() => {});
      await home.remove(part).catch(() => {});
      throw error;
    }
  }

  async get(key: string, { signal }: StorageOptions = {}): Promise<ReadableStream<Uint8Array> | undefined> {
    return this.#look(key, "read", signal, async (home, name) => {
      const file = await home.file(name, constants.O_RDONLY);
      if ((await file.stat()).isFile()) return contentOf(file, signal);
      await file.close();
      return undefined;
    });
  }

  async stat(key: string, { signal }: StorageOptions = {}): Promise<StoredObject | undefined> {
    return this.#look(key, "look at", signal, async (home, name) => {
      const found = await home.look(name);
      return found.isFile() ? { key, bytes: found.size, modifiedAt: found.mtime } : undefined;
    });
  }

  async list(prefix: string, { after, limit = PAGE, signal }: ObjectListOptions = {}): Promise<ObjectPage> {
    signal?.throwIfAborted();
    return listTree((folder) => this.#children(folder, signal), { prefix, after, limit });
  }

  async remove(key: string, { signal }: StorageOptions = {}): Promise<void> {
    await this.#look(key, "remove", signal, (home, name) => home.remove(name));
  }

  async unfinished(prefix: string, { signal }: StorageOptions = {}): Promise<readonly string[]> {
    return unfinishedIn((folder) => this.#children(folder, signal), prefix);
  }

  async discard(key: string, { signal }: StorageOptions = {}): Promise<void> {
    await this.#look(key, "remove", signal, async (home, name) => {
      const parts = (await home.entries()).filter((entry) => nameOfPart(entry.name) === name);
      for (const part of parts) await home.remove(part.name);
    });
  }

  async sweep(prefix: string, { before, signal }: SweepOptions): Promise<number> {
    signal?.throwIfAborted();
    const remove = async (path: string) => {
      const { folder, name } = splitKey(path);
      await failing("remove", async () => {
        await using home = await this.#enter(folder, false);
        await home.remove(name);
      });
    };
    return sweepTree((folder) => this.#children(folder, signal), { prefix, before, remove });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Runs an operation on an object; returns `undefined` if it does not exist. */
  async #look<T>(
    key: string,
    action: string,
    signal: AbortSignal | undefined,
    work: (home: FolderHandle, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const { folder, name } = splitKey(key);
    return failing(action, async () => {
      await using home = await this.#enter(folder, false);
      return await work(home, name);
    });
  }

  async #children(folder: string, signal: AbortSignal | undefined): Promise<readonly TreeChild[]> {
    signal?.throwIfAborted();
    const found = await failing("list", async () => {
      await using home = await this.#enter(folder, false);
      const entries = await home.entries();
      const children: TreeChild[] = [];
      for (const { name } of entries) {
        const child = await failing("list", () => home.look(name));
        if (!child) continue;
        const type = child.isFile() ? "file" : child.isDirectory() ? "folder" : "other";
        children.push({ name, type, bytes: child.size, modifiedAt: child.mtime });
      }
      return children;
    });
    return found ?? [];
  }

  #enter(folder: string, make: boolean): Promise<FolderHandle> {
    return backupFolder(this.#target, { folder, make, dataFolder: this.#dataFolder });
  }
}

/** Writes a whole stream into a new file and syncs it to disk. */
async function fill(
  home: FolderHandle,
  name: string,
  { content, signal }: { readonly content: ReadableStream<Uint8Array>; readonly signal: AbortSignal | undefined },
): Promise<number> {
  await using file = await writing(() => home.file(name, NEW_FILE));
  const write = async (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length;) at += (await writing(() => file.write(chunk, at))).bytesWritten;
  };
  const bytes = await drainStream(content, write, signal);
  await writing(() => file.sync());
  return bytes;
}

function contentOf(file: FileHandle, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        signal?.throwIfAborted();
        const { buffer, bytesRead } = await file.read(new Uint8Array(CHUNK), 0, CHUNK);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await file.close();
        controller.close();
      } catch (error) {
        await file.close().catch(() => {});
        controller.error(signal?.aborted ? signal.reason : backupFailure("read", error));
      }
    },
    cancel: () => file.close(),
  });
}

async function writing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw backupFailure("write", error);
  }
}

/** Runs work; returns `undefined` for a missing object, and throws other errors as failures. */
async function failing<T>(action: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw backupFailure(action, error);
  }
}

import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, lstat, mkdir, readlink, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { type PackedFile, packGzip } from "../../domain/archive/pack.ts";
import { unpack } from "../../domain/archive/unpack.ts";
import { Failure, invalidField } from "../../domain/failure.ts";
import type {
  CopyToOptions,
  ReceivedUpload,
  ReceiveOptions,
  TreeEntry,
  UploadFiles,
  ReadOptions,
} from "../../ports/projects/upload_files.ts";
import { copyTree } from "./copy_tree.ts";
import { absentAsUndefined, entriesOf, readInside, treeEntries } from "./folder_tree.ts";
import { DiskReserve, type DiskSpace, diskSpace } from "./disk_reserve.ts";
import { FolderWriter } from "./folder_writer.ts";
import { uploadFailure } from "./storage_failure.ts";
import { errorCode } from "../shared/error_code.ts";
import { removeTree } from "./remove_tree.ts";

const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const SWAP_ATTEMPTS = 16;

/**
 * Stores each upload in `<folder>/<id>/tree`. It is unpacked in a `.part` folder beside that and renamed when complete.
 * Nothing is synced to disk (no fsync): after a power failure, an upload of the last seconds may have to be repeated.
 */
export class LocalUploadFiles implements UploadFiles {
  readonly #folder: string;
  readonly #space: () => Promise<DiskSpace>;

  /** `folder` is absolute; it is created if missing. `space` returns the free space of its disk. */
  constructor(folder: string, space: () => Promise<DiskSpace> = () => diskSpace(folder)) {
    this.#folder = folder;
    this.#space = space;
  }

  async receive(
    id: string,
    archive: ReadableStream<Uint8Array>,
    { limits, signal, confirm }: ReceiveOptions,
  ): Promise<ReceivedUpload> {
    const home = this.#home(id);
    if (home === undefined) throw invalidField("id", "it is not the id of an upload");
    const part = join(home, `${randomUUID()}.part`);
    const writer = new FolderWriter(part);
    const reserve = new DiskReserve(this.#space);
    try {
      await makeFolders(part);
      const hash = createHash("sha256");
      let received: ReceivedUpload | undefined;
      for await (const step of unpack(archive, { limits, signal, onBytes: (bytes) => hash.update(bytes) })) {
        await reserve.admit(step);
        await writer.take(step);
        if (step.type === "end") received = { bytes: step.bytes, files: step.files, sha256: hash.digest("hex") };
      }
      signal?.throwIfAborted();
      await confirm?.();
      await replace(join(home, "tree"), part);
      return received!;
    } catch (error) {
      await writer.close();
      // Leftovers are found by `stored()`; the caller must get the first failure.
      await removeTree(part).catch(() => {});
      await rmdir(home).catch(() => {});
      if (!archive.locked) await archive.cancel(error).catch(() => {});
      throw signal?.aborted ? signal.reason : uploadFailure("accept the upload", error);
    }
  }

  async *list(id: string): AsyncGenerator<TreeEntry> {
    const home = this.#home(id);
    if (home !== undefined) yield* treeEntries(join(home, "tree"));
  }

  async read(id: string, path: string, options: ReadOptions): Promise<Uint8Array | undefined> {
    const home = this.#home(id);
    return home === undefined ? undefined : readInside(join(home, "tree"), path, options);
  }

  async copyTo(id: string, folder: string, { signal, shared = false }: CopyToOptions = {}): Promise<void> {
    const home = this.#home(id);
    const tree = home === undefined ? undefined : join(home, "tree");
    const before = tree === undefined ? undefined : await absentAsUndefined(() => lstat(tree));
    if (tree === undefined || !before?.isDirectory()) throw gone();
    await copyTree(tree, folder, { ...(signal && { signal }), share: shared }).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : uploadFailure("copy the upload", error);
    });
    // If the upload was removed or replaced meanwhile, the copy may be incomplete.
    if ((await absentAsUndefined(() => lstat(tree)))?.ino !== before.ino) throw gone();
  }

  async archive(id: string): Promise<ReadableStream<Uint8Array>> {
    const home = this.#home(id);
    const tree = home === undefined ? undefined : join(home, "tree");
    const found = tree === undefined ? undefined : await absentAsUndefined(() => lstat(tree));
    if (tree === undefined || !found?.isDirectory()) throw gone();
    return packGzip(packedEntries(tree));
  }

  async discard(id: string): Promise<void> {
    const home = this.#home(id);
    if (home === undefined) return;
    await removeTree(home).catch((error: unknown) => {
      throw uploadFailure("remove the upload", error);
    });
  }

  async *stored(): AsyncGenerator<{ readonly id: string; readonly changedAt: Date }> {
    for (const entry of await entriesOf(this.#folder)) {
      const home = this.#home(entry.name);
      if (home === undefined || !entry.isDirectory()) continue;
      const found = await absentAsUndefined(() => lstat(home));
      if (found !== undefined) yield { id: entry.name, changedAt: found.mtime };
    }
  }

  /** The folder of an id; `undefined` for text that is no valid id, and so is never stored. */
  #home(id: string): string | undefined {
    return SAFE_ID.test(id) ? join(this.#folder, id) : undefined;
  }
}

/** Yields the entries of a folder, to be packed. */
async function* packedEntries(tree: string): AsyncGenerator<PackedFile> {
  for await (const { path: name, type: kind, size } of treeEntries(tree)) {
    const place = join(tree, name);
    const { mode, mtimeMs: modifiedMs } = await lstat(place);
    const entry = { name, kind, size: kind === "file" ? size : 0, mode, modifiedMs };
    if (kind === "link") yield { ...entry, target: await readlink(place) };
    else yield kind === "file" ? { ...entry, content: createReadStream(place) } : entry;
  }
}

function gone(): Failure {
  return new Failure(
    "not_found",
    "upload_gone",
    "Cannot use this upload: its files are not kept any more. Upload the folder again",
  );
}

/** A concurrent failed upload may remove its empty home between the two folders created here: then retry once. */
async function makeFolders(part: string): Promise<void> {
  const make = () => mkdir(part, { recursive: true });
  await make().catch(make);
  await chmod(part, 0o755);
}

/** Replaces `tree` by `part`; of two concurrent calls the later one wins. */
async function replace(tree: string, part: string): Promise<void> {
  // No longer than the name it was unpacked under: a longer path could exceed the limit of the file system.
  const former = part.replace(/part$/, "old");
  for (let attempt = 1; ; attempt++) {
    const replaces = await absentAsUndefined(() => rename(tree, former).then(() => true));
    try {
      await rename(part, tree);
      break;
    } catch (error) {
      const taken = ["ENOTEMPTY", "EEXIST"].includes(errorCode(error));
      // If another upload came first, the version before both is no longer needed.
      if (replaces) await (taken ? removeTree(former) : rename(former, tree).catch(() => removeTree(former)));
      if (!taken || attempt === SWAP_ATTEMPTS) throw error;
    }
  }
  await removeTree(former).catch(() => {});
}

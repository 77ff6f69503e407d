import { constants, type Dirent } from "node:fs";
import {
  chmod,
  copyFile,
  type FileHandle,
  link as hardLink,
  mkdir,
  open,
  readdir,
  readlink,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import { invalid } from "../../domain/failure.ts";
import { unlessCode } from "../shared/error_code.ts";

/** An entry that is about to be copied. */
export interface CopiedEntry {
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "special";
  readonly size: number;
  /** The target of a symlink. */
  readonly target: string;
}

export interface CopyOptions {
  readonly signal?: AbortSignal;
  /** Whether to hard-link files instead of copying them, which is safe only if neither side is ever written to. */
  readonly share?: boolean;
  /** Called for each entry before it is copied: `false` skips it, throwing aborts the copy. */
  readonly accept?: (entry: CopiedEntry) => boolean;
  /** Called once all entries were accepted and everything except symlinks is copied; throwing aborts the copy. */
  readonly beforeLinks?: () => void;
}

const FILES_AT_ONCE = 16;
/** Bounds the open files, as every folder on the path to an entry is held open. */
const MAX_DEPTH = 256;
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
/** Error codes of an entry that was removed or replaced by another kind after it was listed. */
const GONE = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"];

/**
 * Copies the content of a folder into an existing one. Copies symlinks as symlinks and never follows them, not even
 * when one replaces a file or folder during the copy. Skips entries that vanish meanwhile. Never copies sockets, pipes
 * and devices.
 */
export async function copyTree(from: string, to: string, options: CopyOptions = {}): Promise<void> {
  const links: CopiedEntry[] = [];
  const copy = new TreeCopy(options, links);
  await using folder = await open(from, FOLDER_FLAGS);
  await copy.folder({ handle: folder, from, to, path: "", depth: 1 });
  options.beforeLinks?.();
  for (const link of links) {
    options.signal?.throwIfAborted();
    await symlink(link.target, join(to, link.path));
  }
}

/** A folder being copied; `handle` keeps referring to it whatever happens to its name. */
interface OpenFolder {
  readonly handle: FileHandle;
  readonly from: string;
  readonly to: string;
  /** Relative path of the folder, ending with `/` unless empty. */
  readonly path: string;
  readonly depth: number;
}

class TreeCopy {
  readonly #options: CopyOptions;
  readonly #links: CopiedEntry[];

  constructor(options: CopyOptions, links: CopiedEntry[]) {
    this.#options = options;
    this.#links = links;
  }

  async folder(folder: OpenFolder): Promise<void> {
    if (folder.depth > MAX_DEPTH) {
      throw invalid("source_too_deep", `Cannot copy this folder: it is more than ${MAX_DEPTH} folders deep`);
    }
    const entries = await readdir(placeOf(folder), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
      this.#options.signal?.throwIfAborted();
      await allSettled(files.slice(start, start + FILES_AT_ONCE).map(({ name }) => this.#file(folder, name)));
    }
    for (const entry of entries) {
      if (entry.isFile()) continue;
      this.#options.signal?.throwIfAborted();
      await this.#other(folder, entry);
    }
  }

  async #other(folder: OpenFolder, entry: Dirent): Promise<void> {
    const path = folder.path + entry.name;
    const place = join(placeOf(folder), entry.name);
    if (entry.isSymbolicLink()) {
      const target = await unlessCode(GONE, readlink(place));
      const link = { path, type: "link" as const, size: 0, target: target ?? "" };
      if (target !== undefined && this.#accepts(link)) this.#links.push(link);
    } else if (!entry.isDirectory()) this.#accepts({ path, type: "special", size: 0, target: "" });
    else if (this.#accepts({ path, type: "folder", size: 0, target: "" })) {
      await using handle = await unlessCode(GONE, open(place, FOLDER_FLAGS));
      if (handle === undefined) return;
      const to = join(folder.to, entry.name);
      await mkdir(to, 0o700);
      const from = join(folder.from, entry.name);
      await this.folder({ handle, from, to, path: `${path}/`, depth: folder.depth + 1 });
      await chmod(to, ((await handle.stat()).mode & 0o777) | 0o700);
    }
  }

  async #file(folder: OpenFolder, name: string): Promise<void> {
    await using file = await unlessCode(GONE, open(join(placeOf(folder), name), FILE_FLAGS));
    if (file === undefined) return;
    const found = await file.stat();
    const type = found.isFile() ? "file" : "special";
    const accepted = this.#accepts({ path: folder.path + name, type, size: found.size, target: "" });
    if (!accepted || type === "special") return;
    const to = join(folder.to, name);
    if (this.#options.share && (await tryLink(join(folder.from, name), to))) return;
    const from = process.platform === "linux" ? `/proc/self/fd/${file.fd}` : join(folder.from, name);
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(to, found.mode & 0o777);
  }

  #accepts(entry: CopiedEntry): boolean {
    return this.#options.accept?.(entry) ?? true;
  }
}

/** Tries to create a hard link; returns whether the file system allowed it. */
function tryLink(from: string, to: string): Promise<boolean> {
  return hardLink(from, to).then(
    () => true,
    () => false,
  );
}

/** The path of the folder, by file descriptor where possible, because its name may refer to another folder later. */
function placeOf({ handle, from }: OpenFolder): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : from;
}

/** Waits for all, then throws the first failure, so that nothing keeps writing after the caller has returned. */
async function allSettled(actions: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(actions)) if (outcome.status === "rejected") throw outcome.reason;
}

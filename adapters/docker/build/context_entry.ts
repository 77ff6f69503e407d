import { constants, type BigIntStats } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { join } from "node:path";
import { shown } from "../../../domain/archive/refusal.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";

/** A file, folder or symlink of a build context. */
export interface ContextEntry {
  /** Relative, separated by slashes. */
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  /** Permission bits, including setuid, setgid and sticky. */
  readonly mode: number;
  /** Zero for anything but files. */
  readonly size: number;
  readonly modifiedNs: bigint;
  /** The target of a symlink. */
  readonly target: string;
  /** Distinguishes a file from another one that has replaced it. */
  readonly inode: bigint;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Length of all chunks of a file but the last. */
export const CHUNK_BYTES = 128 * 1_024;

/**
 * Reads one entry of a folder without following symlinks; `undefined` for sockets, pipes and devices, which builds do
 * not get.
 */
export async function contextEntry(root: string, path: string): Promise<ContextEntry | undefined> {
  const found = await lstat(join(root, path), { bigint: true }).catch((cause: unknown) => {
    throw changed(path, cause);
  });
  const common = { path, mode: Number(found.mode) & 0o7777, modifiedNs: found.mtimeNs, inode: found.ino };
  if (found.isFile()) return { ...common, kind: "file", size: Number(found.size), target: "" };
  if (found.isDirectory()) return { ...common, kind: "folder", size: 0, target: "" };
  if (!found.isSymbolicLink()) return undefined;
  const target = await readlink(join(root, path)).catch((cause: unknown) => {
    throw changed(path, cause);
  });
  return { ...common, kind: "link", size: 0, target };
}

/**
 * Yields the bytes of a file, each chunk valid until the next is requested. Throws `context_changed` if the file is
 * not, or no longer, the one of the entry.
 */
export async function* contentOf(root: string, entry: ContextEntry): AsyncGenerator<Uint8Array> {
  await using file = await open(join(root, entry.path), FLAGS).catch((cause: unknown) => {
    throw changed(entry.path, cause);
  });
  if (!isSame(entry, await file.stat({ bigint: true }))) throw changed(entry.path);
  // One byte more than expected, so that the same read notices a file that has grown.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, entry.size + 1));
  let left = entry.size;
  for (let full = true; full;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    full = bytesRead === buffer.length;
    left -= bytesRead;
    if (left < 0) throw changed(entry.path);
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
  }
  if (left > 0 || !isSame(entry, await file.stat({ bigint: true }))) throw changed(entry.path);
}

function isSame(entry: ContextEntry, found: BigIntStats): boolean {
  const { inode, size, modifiedNs } = entry;
  return found.isFile() && found.ino === inode && found.size === BigInt(size) && found.mtimeNs === modifiedNs;
}

function changed(path: string, cause?: unknown): Failure {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const why = code === "EACCES" || code === "EPERM" ? "cannot be read" : "changed while it was sent to the build";
  return invalid("context_changed", `Cannot build: ${shown(path)} ${why}; deploy again`, { cause });
}

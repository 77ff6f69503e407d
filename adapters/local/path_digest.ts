import { constants } from "node:fs";
import { type Failure, invalid } from "../../domain/failure.ts";
import { FolderHandle } from "./folder_handle.ts";
import { unlessCode } from "../shared/error_code.ts";

/** The kind of the entry at a path, and its digest. */
export interface PathDigest {
  readonly kind: "file" | "folder";
  readonly digest: string;
}

const LEFT_OUT = ".git";
const FILES_AT_ONCE = 16;
const CHUNK_BYTES = 128 * 1_024;
/** Bounds the open files, as every folder on the path to an entry is held open. */
const MAX_DEPTH = 256;
/** The copy of a release adds these bits to each folder, so that it can be written to. */
const OWNER_BITS = 0o700;
/** Error codes of an entry that was removed or replaced by another kind after it was listed. */
const GONE = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL", "ENXIO", "ENAMETOOLONG"];

/**
 * Computes a digest of the file or folder at a relative path, over all names, modes and contents. Symlinks count as
 * symlinks; `.git` and, as in copies, sockets, pipes and devices are skipped. An empty path means the folder itself,
 * whose own mode does not count. Returns `undefined` if nothing exists there; throws `link_outside` for a path through
 * a symlink or out of the folder.
 */
export async function pathDigest(root: string, path: string): Promise<PathDigest | undefined> {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || path.includes("\0") || parts.includes("..")) throw overLink();
  await using whole = await FolderHandle.open(root);
  return await digestAt(whole, parts);
}

/** What the digest covers of an entry, except its name. */
type Seen = readonly [kind: "file" | "folder", mode: number, content: string] | readonly [kind: "link", target: string];

async function digestAt(folder: FolderHandle, [name, ...rest]: readonly string[]): Promise<PathDigest | undefined> {
  if (name === undefined) return { kind: "folder", digest: `sha256:${await contentOf(folder, 1)}` };
  const found = await unlessCode(GONE, folder.look(name));
  if (found?.isSymbolicLink()) throw overLink();
  if (found?.isDirectory() && rest.length > 0) {
    await using inner = await unlessCode(GONE, folder.enter(name, { make: false }));
    return inner && (await digestAt(inner, rest));
  }
  if (rest.length > 0) return undefined;
  const seen = found?.isDirectory() ? await seenFolder(folder, name, 1) : await seenFile(folder, name);
  return seen && { kind: seen[0], digest: `sha256:${sha256().update(JSON.stringify(seen)).digest("hex")}` };
}

/** Computes the digest of everything in a folder. */
async function contentOf(folder: FolderHandle, depth: number): Promise<string> {
  if (depth > MAX_DEPTH) {
    throw invalid("source_too_deep", `Cannot read this folder: it is more than ${MAX_DEPTH} folders deep`);
  }
  const entries = (await folder.entries()).filter(({ name }) => name !== LEFT_OUT);
  const seen = new Map<string, Seen | undefined>();
  const files = entries.filter((entry) => entry.isFile());
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const some = files.slice(start, start + FILES_AT_ONCE);
    const found = await Promise.all(some.map(({ name }) => seenFile(folder, name)));
    for (const [index, { name }] of some.entries()) seen.set(name, found[index]);
  }
  for (const entry of entries) {
    if (entry.isDirectory()) seen.set(entry.name, await seenFolder(folder, entry.name, depth + 1));
    if (entry.isSymbolicLink()) seen.set(entry.name, await seenLink(folder, entry.name));
  }
  const all = sha256();
  for (const [name, each] of [...seen].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // JSON quotes and brackets keep the fields unambiguous.
    if (each) all.update(`${JSON.stringify([name, ...each])}\n`);
  }
  return all.digest("hex");
}

async function seenFolder(
  folder: FolderHandle,
  name: string,
  depth: number,
): Promise<["folder", number, string] | undefined> {
  await using inner = await unlessCode(GONE, folder.enter(name, { make: false }));
  return inner && ["folder", (await inner.mode()) | OWNER_BITS, await contentOf(inner, depth)];
}

async function seenLink(folder: FolderHandle, name: string): Promise<["link", string] | undefined> {
  const target = await unlessCode(GONE, folder.target(name));
  return target === undefined ? undefined : ["link", target];
}

async function seenFile(folder: FolderHandle, name: string): Promise<["file", number, string] | undefined> {
  await using file = await unlessCode(GONE, folder.file(name, constants.O_RDONLY));
  const found = await file?.stat();
  if (file === undefined || !found?.isFile()) return undefined;
  const content = sha256();
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, found.size + 1));
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    content.update(buffer.subarray(0, bytesRead));
  }
  return ["file", found.mode & 0o777, content.digest("hex")];
}

function sha256(): Bun.CryptoHasher {
  return new Bun.CryptoHasher("sha256");
}

function overLink(): Failure {
  return invalid(
    "link_outside",
    "Cannot use this path: it leads through a link or out of the folder; use the path of the file itself",
  );
}

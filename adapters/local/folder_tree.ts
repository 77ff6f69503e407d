import { constants, type Dirent } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import type { ReadOptions, TreeEntry } from "../../ports/projects/upload_files.ts";
import { storageFailure } from "./storage_failure.ts";
import { ABSENT, errorCode } from "../shared/error_code.ts";

const STATS_AT_ONCE = 64;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * Yields the entries of a folder recursively, sorted by path, without following symlinks and without the names in
 * `without`; nothing if it is missing.
 */
export async function* treeEntries(root: string, without: ReadonlySet<string> = NOTHING): AsyncGenerator<TreeEntry> {
  const waiting = await contentOf({ root, without }, "");
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ("entry" in next) yield next.entry;
    else for (const item of await contentOf({ root, without }, next.path)) waiting.push(item);
  }
}

/** Reads a regular file, but not through symlinks that leave the folder; `undefined` if missing or too large. */
export async function readInside(
  root: string,
  path: string,
  { maxBytes, tooLarge }: ReadOptions,
): Promise<Uint8Array | undefined> {
  if (!isInside(path)) return undefined;
  return absentAsUndefined(async () => {
    const tree = await realpath(root);
    const real = await realpath(join(tree, path));
    if (!real.startsWith(tree + sep)) return undefined;
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(real, flags);
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    if (found.size <= maxBytes) return new Uint8Array(await file.readFile());
    if (tooLarge) throw tooLarge();
    return undefined;
  });
}

/** Lists the direct entries of a folder; none if it is missing. */
export async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await absentAsUndefined(() => readdir(folder, { withFileTypes: true }))) ?? [];
}

/** Returns the result of a file system call, or `undefined` if the file is missing. Throws other errors as failures. */
export async function absentAsUndefined<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw storageFailure("read the folder", error);
  }
}

/** An entry to yield, or a folder (`path` ends with `/`) whose content is inserted at this position. */
type Waiting = { readonly path: string; readonly entry: TreeEntry } | { readonly path: string };

interface Tree {
  readonly root: string;
  readonly without: ReadonlySet<string>;
}

/**
 * Lists a folder in reverse. A subfolder is listed both as `name` and as `name/`, so that the whole is sorted by path.
 */
async function contentOf({ root, without }: Tree, folder: string): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  const entries = (await entriesOf(join(root, folder))).filter(({ name }) => !without.has(name));
  for (let start = 0; start < entries.length; start += STATS_AT_ONCE) {
    const some = entries.slice(start, start + STATS_AT_ONCE);
    const found = await Promise.all(some.map((entry) => treeEntry(root, folder + entry.name, entry)));
    for (const entry of found) {
      if (entry === undefined) continue;
      waiting.push({ path: entry.path, entry });
      if (entry.type === "folder") waiting.push({ path: `${entry.path}/` });
    }
  }
  return waiting.sort((a, b) => (a.path < b.path ? 1 : -1));
}

async function treeEntry(root: string, path: string, entry: Dirent): Promise<TreeEntry | undefined> {
  if (entry.isDirectory()) return { path, type: "folder", size: 0 };
  if (entry.isSymbolicLink()) return { path, type: "link", size: 0 };
  const found = await absentAsUndefined(() => lstat(join(root, path)));
  return found?.isFile() ? { path, type: "file", size: found.size } : undefined;
}

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
}

import { Failure } from "../failure.ts";
import { compareKeys, isObjectKey, nameOfPart } from "./object_key.ts";
import type { ObjectPage, StoredObject } from "./stored_object.ts";

/** A direct child of a folder. */
export interface TreeChild {
  readonly name: string;
  readonly type: "file" | "folder" | "other";
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** Lists a folder in any order; empty for a folder that does not exist. The root is the empty string. */
export type ReadFolder = (folder: string) => Promise<readonly TreeChild[]>;

/** The part of a tree to list. */
export interface TreePart {
  readonly prefix: string;
  /** The cursor: only keys after this one. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Lists the files of a tree ordered by key. Only holds the folders on one path in memory at a time. */
export async function listTree(read: ReadFolder, { prefix, after, limit }: TreePart): Promise<ObjectPage> {
  const objects: StoredObject[] = [];
  const waiting: Waiting[] = [start(prefix)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ("object" in next) {
      if (objects.length === limit) return { objects, next: objects.at(-1)?.key ?? null };
      objects.push(next.object);
      continue;
    }
    const content = await contentOf(read, next.path);
    for (const item of content) if (isWanted(item, prefix, after)) waiting.push(item);
  }
  return { objects, next: null };
}

/** Returns the keys with the prefix whose writes were never finished, in no particular order. */
export async function unfinishedIn(read: ReadFolder, prefix: string): Promise<readonly string[]> {
  const { path } = start(prefix);
  const names = (await read(path)).flatMap(({ name }) => nameOfPart(name) ?? []);
  return [...new Set(names.map((name) => path + name))].filter((key) => key.startsWith(prefix) && isObjectKey(key));
}

/**
 * Removes the part files of unfinished writes to keys with the prefix, except those modified since `before`; resolves
 * to the number removed. Walks breadth-first, because backups are seldom nested deeply, and skips unreadable folders.
 */
export async function sweepTree(read: ReadFolder, { prefix, before, remove }: TreeSweep): Promise<number> {
  let [swept, folders] = [0, [start(prefix).path]];
  while (folders.length > 0) {
    const next: string[] = [];
    for (const folder of folders) {
      for (const { name, type, modifiedAt } of await read(folder).catch(nothingIfDenied)) {
        const key = folder + (nameOfPart(name) ?? name);
        if (type === "folder" && isObjectKey(key) && overlaps(`${key}/`, prefix)) next.push(`${key}/`);
        if (type !== "file" || key === folder + name || !key.startsWith(prefix) || modifiedAt >= before) continue;
        await remove(folder + name);
        swept++;
      }
    }
    folders = next;
  }
  return swept;
}

/** Which unfinished files to remove, and how. */
export interface TreeSweep {
  readonly prefix: string;
  readonly before: Date;
  readonly remove: (path: string) => Promise<void>;
}

function nothingIfDenied(error: unknown): readonly TreeChild[] {
  if (error instanceof Failure && error.code === "permission_denied") return [];
  throw error;
}

/** A file to list, or a folder (path ends with `/`, empty for the root) whose content is listed at this position. */
type Waiting = { readonly path: string; readonly object: StoredObject } | { readonly path: string };

/** Returns the deepest folder that contains everything with a prefix. */
function start(prefix: string): { readonly path: string } {
  return { path: prefix.slice(0, prefix.lastIndexOf("/") + 1) };
}

/** Returns the content of a folder in reverse order; a folder sorts by its name with `/`. */
async function contentOf(read: ReadFolder, folder: string): Promise<Waiting[]> {
  const found = (await read(folder)).flatMap((child): Waiting[] => {
    const key = folder + child.name;
    if (child.type === "other" || !isObjectKey(key)) return [];
    if (child.type === "folder") return [{ path: `${key}/` }];
    return [{ path: key, object: { key, bytes: child.bytes, modifiedAt: child.modifiedAt } }];
  });
  return found.sort((a, b) => compareKeys(b.path, a.path));
}

function isWanted(item: Waiting, prefix: string, after: string | undefined): boolean {
  const { path } = item;
  if ("object" in item) return path.startsWith(prefix) && (after === undefined || compareKeys(path, after) > 0);
  if (!overlaps(path, prefix)) return false;
  return after === undefined || after.startsWith(path) || compareKeys(path, after) > 0;
}

/** Returns whether a folder may contain keys with the prefix, judged by its path. */
function overlaps(path: string, prefix: string): boolean {
  return path.startsWith(prefix) || prefix.startsWith(path);
}

import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unpack } from "../../domain/archive/unpack.ts";
import { conflict, type Failure, invalid, invalidField } from "../../domain/failure.ts";
import type { ReleaseFolder, ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { ReadOptions, TreeEntry } from "../../ports/projects/upload_files.ts";
import { copyTree } from "./copy_tree.ts";
import { absentAsUndefined, entriesOf, readInside, treeEntries } from "./folder_tree.ts";
import { FolderHandle } from "./folder_handle.ts";
import { FolderWriter } from "./folder_writer.ts";
import { removeTree } from "./remove_tree.ts";
import { onDisk } from "./storage_failure.ts";
import { type PathDigest, pathDigest } from "./path_digest.ts";
import { errorCode } from "../shared/error_code.ts";

const CURRENT = "current";
const TREE = /^tree-[0-9a-f-]{36}$/;
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
/** The name of a removed folder until all of it is deleted. */
const REMOVED = /^([A-Za-z0-9][A-Za-z0-9_-]{0,127})\.[0-9a-f-]{36}\.removed$/;
/** A larger site is not one to serve from files. */
const BUILT_LIMITS = { maxBytes: 8 * 1024 ** 3, maxUnpackedBytes: 8 * 1024 ** 3, maxEntries: 1_000_000 };
const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * Keeps each release in `<folder>/<id>/tree-<random>`, which the file `current` beside it names. The empty file
 * `finished`, which lies outside the tree so that nothing in the tree can create it, marks it as a finished artifact. A
 * stale writer of a tree that was replaced since, such as a server that was suspended, still writes to its own old
 * tree. A folder is renamed before its removal: from that moment on it is no release any more, however long the removal
 * takes.
 */
export class LocalReleaseFolders implements ReleaseFolders {
  readonly #folder: string;

  /** `folder` is absolute; it is created if missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async make(deploymentId: string): Promise<string> {
    const home = this.#home(deploymentId);
    if (home === undefined) throw invalidField("deploymentId", "it is not the id of a deployment");
    return onDisk("make the release folder", async () => {
      await this.remove(deploymentId);
      const name = `tree-${randomUUID()}`;
      await mkdir(join(home, name), { recursive: true });
      await writeFile(join(home, CURRENT), name, { mode: 0o600 });
      return join(home, name);
    });
  }

  async find(deploymentId: string): Promise<ReleaseFolder | undefined> {
    const home = this.#home(deploymentId);
    if (home === undefined) return undefined;
    const path = join(home, await nameOfTree(home));
    if (!(await absentAsUndefined(() => lstat(path)))?.isDirectory()) return undefined;
    const mark = await absentAsUndefined(() => lstat(join(home, "finished")));
    return { path, finished: mark !== undefined };
  }

  async finish(deploymentId: string): Promise<void> {
    const found = await this.find(deploymentId);
    if (found === undefined) throw notThere();
    await onDisk("keep the release folder", async () => {
      await using _ = await open(join(found.path, "..", "finished"), "w", 0o600);
    });
  }

  async remove(deploymentId: string): Promise<void> {
    const home = this.#home(deploymentId);
    if (home === undefined) return;
    await onDisk("remove the release folder", async () => {
      await rename(home, `${home}.${randomUUID()}.removed`).catch((error: unknown) => {
        if (errorCode(error) !== "ENOENT") throw error;
      });
      // Also removes leftovers of a removal that was killed.
      for (const { name } of await entriesOf(this.#folder)) {
        if (REMOVED.exec(name)?.[1] === deploymentId) await removeTree(join(this.#folder, name));
      }
    });
  }

  async copy(fromDeploymentId: string, toDeploymentId: string): Promise<boolean> {
    const [from, to] = await Promise.all([this.find(fromDeploymentId), this.find(toDeploymentId)]);
    if (!from?.finished) return false;
    if (to === undefined) throw notThere();
    return onDisk("copy the release folder", async () => {
      await copyTree(from.path, to.path);
      // If the source was removed meanwhile, the copy may be incomplete.
      return (await this.find(fromDeploymentId))?.finished ?? false;
    });
  }

  async place(deploymentId: string, path: string, tar: ReadableStream<Uint8Array>): Promise<void> {
    const found = await this.find(deploymentId);
    if (found === undefined) throw notThere();
    const home = join(found.path, "..");
    const part = join(home, `${randomUUID()}.part`);
    const writer = new FolderWriter(part);
    await onDisk("keep the build output", async () => {
      try {
        await mkdir(part);
        for await (const step of unpack(tar, { limits: BUILT_LIMITS, plain: true })) await writer.take(step);
        const [top] = await entriesOf(part);
        const place = await placeIn(found.path, path);
        await removeTree(place);
        await rename(join(part, top!.name), place);
      } finally {
        await writer.close();
        await removeTree(part);
      }
    });
  }

  async *entries(deploymentId: string): AsyncGenerator<TreeEntry> {
    const found = await this.find(deploymentId);
    if (found !== undefined) yield* treeEntries(found.path, LEFT_OUT);
  }

  async read(deploymentId: string, path: string, options: ReadOptions): Promise<Uint8Array | undefined> {
    const found = await this.find(deploymentId);
    return found === undefined ? undefined : readInside(found.path, path, options);
  }

  async digest(deploymentId: string, path: string): Promise<PathDigest | undefined> {
    const found = await this.find(deploymentId);
    return found && onDisk("read the release folder", () => pathDigest(found.path, path));
  }

  async *list(): AsyncGenerator<string> {
    const names = (await entriesOf(this.#folder)).map(({ name }) => REMOVED.exec(name)?.[1] ?? name);
    for (const name of new Set(names)) if (SAFE_ID.test(name)) yield name;
  }

  /** The folder of an id; `undefined` for text that is no valid id, and so never exists. */
  #home(id: string): string | undefined {
    return SAFE_ID.test(id) ? join(this.#folder, id) : undefined;
  }
}

/** The name of the current tree; releases of earlier versions have a single tree of fixed name. */
async function nameOfTree(home: string): Promise<string> {
  const name = await absentAsUndefined(() => readFile(join(home, CURRENT), "utf8"));
  return name !== undefined && TREE.test(name) ? name : "tree";
}

function notThere(): Failure {
  return conflict("release_folder_gone", "Cannot continue this deployment: its release folder no longer exists");
}

/**
 * Returns the absolute location of a path in a tree, and creates its parent folders. None of them may be a symlink,
 * because one that a container wrote could lead anywhere.
 */
async function placeIn(tree: string, path: string): Promise<string> {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.length === 0) return tree;
  if (parts.includes("..")) throw overLink();
  try {
    await using whole = await FolderHandle.open(tree);
    return await placeBelow(whole, parts);
  } catch (error) {
    throw ["ENOTDIR", "ELOOP"].includes(errorCode(error)) ? overLink() : error;
  }
}

async function placeBelow(above: FolderHandle, [name, ...rest]: readonly string[]): Promise<string> {
  if (rest.length === 0) return join(await above.realPath(), name!);
  await using folder = await above.enter(name!, { make: true });
  return await placeBelow(folder, rest);
}

function overLink(): Failure {
  return invalid(
    "link_outside",
    "Cannot keep the build output: its path leads through a link; build into a folder of the source",
  );
}

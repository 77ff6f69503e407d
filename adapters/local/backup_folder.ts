import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isSystemFolder } from "../../domain/backups/local_folder.ts";
import { isWithin } from "../../domain/is_within.ts";
import { Failure } from "../../domain/failure.ts";
import type { LocalFolderTarget } from "../../ports/backups/object_storages.ts";
import { FolderHandle } from "./folder_handle.ts";
import { errorCode } from "../shared/error_code.ts";

/** The folder to open. */
export interface WantedFolder {
  /** Path within the target, without leading and trailing slashes. */
  readonly folder: string;
  /** Whether to create missing folders of the path. */
  readonly make: boolean;
  /** The server's own data folder, which is refused. */
  readonly dataFolder: string;
}

/**
 * Opens a folder of a target. Symlinks in the path of the target itself are resolved, as long as the result lies in the
 * root; within the target no symlink is followed. Walks the path folder by folder, holding each open, so that a symlink
 * that replaces one meanwhile has no effect (TOCTOU).
 */
export async function backupFolder(target: LocalFolderTarget, wanted: WantedFolder): Promise<FolderHandle> {
  if (wanted.make) await mkdir(target.root, { recursive: true, mode: 0o700 });
  const root = await realpath(target.root);
  if (isSystemFolder(root)) throw refused("BACKUP_LOCAL_ROOT is a folder of the system; set it to one of its own");
  const home = await resolveExisting(target.folder);
  if (!isWithin(root, home)) throw refused("it is not in BACKUP_LOCAL_ROOT, once links are resolved");
  const data = await resolveExisting(wanted.dataFolder);
  if (isWithin(data, join(home, wanted.folder))) throw refused("it is in Slipway's own data folder");
  const names = [...namesOf(home.slice(root.length)), ...namesOf(wanted.folder)];
  return walk(root, names, wanted.make);
}

/** Resolves the symlinks of the part of a path that exists and appends the missing rest unchanged. */
async function resolveExisting(path: string): Promise<string> {
  const missing: string[] = [];
  for (let names = namesOf(path); ; missing.unshift(names.pop() ?? "")) {
    try {
      return join(await realpath(`/${names.join("/")}`), ...missing);
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || names.length === 0) throw error;
    }
  }
}

async function walk(root: string, names: readonly string[], make: boolean): Promise<FolderHandle> {
  let here = await FolderHandle.open(root);
  try {
    // The path was resolved a moment ago; verify that it still is the real one.
    if ((await here.realPath()) !== root) throw refused("its root was moved at the same moment; try again");
    for (const name of names) {
      const next = await here.enter(name, { make });
      await here[Symbol.asyncDispose]();
      here = next;
    }
    return here;
  } catch (error) {
    await here[Symbol.asyncDispose]().catch(() => {});
    throw error;
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

function refused(why: string): Failure {
  return new Failure("remote_failed", "misconfigured", `Cannot use the local folder: ${why}`);
}

import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isSystemFolder, isWithin } from "../../domain/backups/local_folder.ts";
import { Failure } from "../../domain/failure.ts";
import type { LocalFolderTarget } from "../../ports/backups/object_storages.ts";
import { FolderHandle } from "./folder_handle.ts";
import { codeOf } from "./folder_tree.ts";

/** Which folder is wanted. */
export interface WantedFolder {
  /** Inside the target, without slashes around it. */
  readonly folder: string;
  /** Whether to make what is missing of the way to it. */
  readonly make: boolean;
  /** The service's own folder, which is out of bounds. */
  readonly dataFolder: string;
}

/**
 * Opens a folder of a target. Links on the way to the target itself count for what they lead to, as long as that lies in the root; inside the target no
 * link is followed. The way is walked folder by folder, each held open: a link that is put in its place meanwhile leads nowhere.
 */
export async function backupFolder(target: LocalFolderTarget, wanted: WantedFolder): Promise<FolderHandle> {
  if (wanted.make) await mkdir(target.root, { recursive: true, mode: 0o700 });
  const root = await realpath(target.root);
  if (isSystemFolder(root)) throw refused("BACKUP_LOCAL_ROOT is a folder of the system; set it to one of its own");
  const home = await loosely(target.folder);
  if (!isWithin(root, home)) throw refused("it does not lie in BACKUP_LOCAL_ROOT, once links are resolved");
  const data = await loosely(wanted.dataFolder);
  if (isWithin(data, join(home, wanted.folder))) throw refused("it lies in the service's own data folder");
  const names = [...namesOf(home.slice(root.length)), ...namesOf(wanted.folder)];
  return walk(root, names, wanted.make);
}

/** The real path of what there is of a path, and the rest as it is. */
async function loosely(path: string): Promise<string> {
  const missing: string[] = [];
  for (let names = namesOf(path); ; missing.unshift(names.pop() ?? "")) {
    try {
      return join(await realpath(`/${names.join("/")}`), ...missing);
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || names.length === 0) throw error;
    }
  }
}

async function walk(root: string, names: readonly string[], make: boolean): Promise<FolderHandle> {
  let here = await FolderHandle.open(root);
  try {
    // The path was real a moment ago; it has to be still.
    if ((await here.realPath()) !== root) throw refused("its root was moved at this moment; try again");
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

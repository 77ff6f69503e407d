import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../shared/error_code.ts";

const ATTEMPTS = 50;

/** Removes a folder recursively, whatever its permissions, even while it is written to. A missing one is no error. */
export async function removeTree(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rm(folder, { recursive: true, force: true });
    } catch (error) {
      const code = errorCode(error);
      if (!["ENOTEMPTY", "EACCES", "EPERM"].includes(code) || attempt === ATTEMPTS) throw error;
      if (code === "ENOTEMPTY") await Bun.sleep(10);
      else if (!(await unprotect(folder))) throw error;
    }
  }
}

/** Makes all folders of a tree accessible to this process; returns whether any mode was changed. */
async function unprotect(folder: string): Promise<boolean> {
  let changed = false;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const done = await chmod(at, 0o700).then(
      () => true,
      () => false,
    );
    changed ||= done;
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) waiting.push(join(at, entry.name));
  }
  return changed;
}

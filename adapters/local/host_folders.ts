import { access, constants, realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { HostFolders } from "../../ports/projects/host_folders.ts";

/** Resolves files and folders of this machine with the permissions of this process. */
export class LocalHostFolders implements HostFolders {
  async resolve(path: string): Promise<string | undefined> {
    if (!isAbsolute(path) || path.includes("\0")) return undefined;
    try {
      const real = await realpath(path);
      // Opening files of a folder needs execute permission (traversal) as well as read permission (listing).
      await access(real, constants.R_OK | constants.X_OK);
      return (await stat(real)).isDirectory() ? real : undefined;
    } catch {
      return undefined;
    }
  }

  async locate(path: string): Promise<string | undefined> {
    if (!isAbsolute(path) || path.includes("\0")) return undefined;
    return realpath(path).catch(() => undefined);
  }
}

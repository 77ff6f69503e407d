import { isSystemFolder } from "../../domain/backups/local_folder.ts";
import { isWithin } from "../../domain/is_within.ts";
import { invalid, invalidField } from "../../domain/failure.ts";
import type { HostFolders } from "../../ports/projects/host_folders.ts";

/** The operator's rules for backups on this machine's own disk. */
export interface LocalBackupRules {
  readonly mode: "self-hosted" | "cloud";
  readonly allowed: boolean;
  readonly root: string | undefined;
  /** The server's own data folder, which is never a place for backups. */
  readonly dataFolder: string;
}

export interface CheckLocalEndpointPorts {
  readonly hostFolders: HostFolders;
  readonly localBackups: LocalBackupRules;
}

/** Refuses a folder of this machine that backups may not be written to; returns the root folder that it lies in. */
export function checkLocalEndpoint({ hostFolders, localBackups }: CheckLocalEndpointPorts) {
  const { mode, allowed, root, dataFolder } = localBackups;

  /** Resolves the symlinks of the part of a path that exists and appends the missing rest unchanged. */
  async function resolveExisting(path: string): Promise<string> {
    const missing: string[] = [];
    for (let rest = path; ; rest = rest.slice(0, rest.lastIndexOf("/"))) {
      const real = await hostFolders.resolve(rest || "/");
      if (real !== undefined) return missing.length === 0 ? real : `${real.replace(/\/$/, "")}/${missing.join("/")}`;
      if (rest === "") return path;
      missing.unshift(rest.slice(rest.lastIndexOf("/") + 1));
    }
  }

  return async function (endpoint: string): Promise<string> {
    if (mode === "cloud") throw refused("destinations on this machine's disk are not possible in cloud mode");
    if (!allowed) throw refused("set BACKUP_ALLOW_LOCAL_DESTINATION=true to allow destinations on this machine's disk");
    if (root === undefined) throw refused("set BACKUP_LOCAL_ROOT to the folder that they may be in");
    const [realRoot, real, data] = await Promise.all([root, endpoint, dataFolder].map(resolveExisting));
    if (isSystemFolder(realRoot!))
      throw refused("BACKUP_LOCAL_ROOT is a folder of the system; set it to one of its own");
    if (!isWithin(realRoot!, real!)) throw outside();
    if (isWithin(data!, real!)) throw invalidField("endpoint", "this folder contains Slipway's own data");
    return root;
  };
}

function outside() {
  return invalidField("endpoint", "give an absolute path in BACKUP_LOCAL_ROOT, once links are resolved");
}

function refused(message: string) {
  return invalid("local_destination_refused", `Cannot accept "kind": ${message}`, {
    details: [{ path: "kind", message }],
  });
}

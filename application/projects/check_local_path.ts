import { Failure, invalidField } from "../../domain/failure.ts";
import { allows, type Principal } from "../../domain/identity/permission.ts";
import type { HostFolders } from "../../ports/projects/host_folders.ts";
import { refuseLocalSource } from "./refuse_local_source.ts";

/** The operator's rules for deploying from folders of the host. */
export interface LocalSourceRules {
  readonly mode: "self-hosted" | "cloud";
  /** Folders that members below admin may deploy from. */
  readonly roots: readonly string[];
  /** The server's own data folder, which is never a source. */
  readonly dataFolder: string;
}

export interface CheckLocalPathPorts {
  readonly hostFolders: HostFolders;
  readonly localSources: LocalSourceRules;
}

/** Options of a path check. */
export interface LocalPathOptions {
  /** The input field that holds the path, for the failure. Defaults to `localPath`. */
  readonly field?: string;
  /** Whether an admin has approved the path already. */
  readonly approved?: boolean;
}

/**
 * Refuses a host folder that the caller may not deploy from; the failure names the input field. The check resolves
 * every symlink of the path. Without a caller, only folders that everyone may deploy from pass.
 */
export function checkLocalPath({ hostFolders, localSources }: CheckLocalPathPorts) {
  const refuseSource = refuseLocalSource({ localSources });
  return async function (
    by: Principal | null,
    path: string,
    { field = "localPath", approved = false }: LocalPathOptions = {},
  ): Promise<void> {
    refuseSource();
    if (!path.startsWith("/") || path.includes("\0")) throw invalidField(field, "give an absolute path");
    const real = await hostFolders.resolve(path);
    const roots = (await Promise.all(localSources.roots.map((root) => hostFolders.resolve(root)))).filter(
      (root) => root !== undefined,
    );
    const anywhere = approved || (by !== null && allows(by, "project:admin"));
    if (!anywhere && !(real && roots.some((root) => contains(root, real)))) {
      throw new Failure(
        "forbidden",
        "local_source_forbidden",
        'Cannot deploy from this folder without the permission "project:admin": it is in none of LOCAL_SOURCE_ROOTS',
      );
    }
    if (!real) throw invalidField(field, "there is no readable folder of this name");
    const data = (await hostFolders.resolve(localSources.dataFolder)) ?? localSources.dataFolder;
    if (contains(data, real) || contains(real, data))
      throw invalidField(field, "this folder contains Slipway's own data");
  };
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

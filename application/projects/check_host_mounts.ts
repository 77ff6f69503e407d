import type { Project } from "../../domain/projects/project.ts";
import { checkHostAccess, type HostRules, type MountField } from "../../domain/services/host_access.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";

/** The project whose services mount something, and whether they are the preview of a pull request. */
export interface HostMounting extends Pick<Project, "settings"> {
  /** Where the services run; on this machine if absent. */
  readonly location?: Project["location"];
  readonly isOfPullRequest?: boolean;
}

/**
 * Refuses services whose access to the host exceeds what their project allows; checks paths both as written and with
 * every symlink resolved.
 */
export function checkHostMounts({ hostFolders, localSources }: CheckLocalPathPorts) {
  return async function (
    { settings: { hostPaths = [] }, isOfPullRequest = false, location = "local" }: HostMounting,
    services: readonly ServiceSpec[],
    fieldOf?: MountField,
  ): Promise<void> {
    const { mode, roots, dataFolder } = localSources;
    // Folders of this machine say nothing about those of a server, and neither do its symlinks.
    if (location === "server") {
      return checkHostAccess(services, { mode, hostPaths, roots: [], dataFolder: null, isOfPullRequest }, fieldOf);
    }
    const rules: HostRules = { mode, hostPaths, roots, dataFolder, isOfPullRequest };
    checkHostAccess(services, rules, fieldOf);
    if (!services.some(({ container }) => container.mounts.some(({ kind }) => kind === "host"))) return;
    const real = {
      mode,
      hostPaths: await realPaths(hostPaths),
      roots: await realPaths(roots),
      dataFolder: await realPath(dataFolder),
    };
    checkHostAccess(await Promise.all(services.map(withRealPaths)), real, fieldOf);
  };

  async function withRealPaths({ name, container }: ServiceSpec): Promise<Pick<ServiceSpec, "name" | "container">> {
    const mounts = await Promise.all(
      container.mounts.map(async (mount) =>
        mount.kind === "host" ? { ...mount, path: await realPath(mount.path) } : mount,
      ),
    );
    return { name, container: { ...container, mounts } };
  }

  function realPaths(paths: readonly string[]): Promise<string[]> {
    return Promise.all(paths.map(realPath));
  }

  /** A missing path cannot be a symlink, so it stays as written. */
  async function realPath(path: string): Promise<string> {
    return (await hostFolders.locate(path)) ?? path;
  }
}

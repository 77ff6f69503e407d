import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import { checkLocalPath, type CheckLocalPathPorts } from "./check_local_path.ts";

/**
 * Refuses to deploy a project from a host folder that cannot be a source now. A folder set by an admin is open to all
 * callers who may deploy the project; any other one, which may have become a symlink to elsewhere, only to callers who
 * may set it. Without a caller, the rules of any caller who may deploy the project apply.
 */
export function checkDeployedPath(ports: CheckLocalPathPorts) {
  const checkPath = checkLocalPath(ports);
  return function (by: Principal | null, { settings }: Project, path: string): Promise<void> {
    return checkPath(by, path, { approved: settings.localPathByAdmin === true && settings.localPath === path });
  };
}

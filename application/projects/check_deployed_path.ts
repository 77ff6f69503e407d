import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import { checkLocalPath, type CheckLocalPathPorts } from "./check_local_path.ts";

/**
 * Refuses to deploy a project from a folder of the host that cannot be a source now. One that an admin named is open to all who may
 * deploy the project; any other, which may have become a link to elsewhere, to those who may name it. Without a caller
 * it is judged as for anybody who may deploy the project.
 */
export function checkDeployedPath(ports: CheckLocalPathPorts) {
  const checkPath = checkLocalPath(ports);
  return function (by: Principal | null, { settings }: Project, path: string): Promise<void> {
    return checkPath(by, path, { approved: settings.localPathByAdmin === true && settings.localPath === path });
  };
}

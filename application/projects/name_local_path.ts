import { allows, type Principal } from "../../domain/identity/permission.ts";
import type { ProjectSettingsChange } from "../../domain/projects/project.ts";
import { checkLocalPath, type CheckLocalPathPorts } from "./check_local_path.ts";

/** Validates the host folder in a settings change, and adds to the change whether an admin set it. */
export function nameLocalPath(ports: CheckLocalPathPorts) {
  const checkPath = checkLocalPath(ports);
  return async function (by: Principal, change: ProjectSettingsChange): Promise<ProjectSettingsChange> {
    const { localPath } = change;
    if (localPath === undefined) return change;
    if (localPath !== null) await checkPath(by, localPath);
    const byAdmin = localPath !== null && allows(by, "project:admin");
    return { ...change, localPathByAdmin: byAdmin || null };
  };
}

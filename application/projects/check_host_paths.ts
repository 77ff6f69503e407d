import { Failure } from "../../domain/failure.ts";
import { demand, type Principal, type Target } from "../../domain/identity/permission.ts";
import type { ProjectSettings, ProjectSettingsChange } from "../../domain/projects/project.ts";
import type { LocalSourceRules } from "./check_local_path.ts";

/** Refuses changed host paths to callers below admin, and any host paths in cloud mode. An equal list is no change. */
export function checkHostPaths({ localSources }: { readonly localSources: LocalSourceRules }) {
  return function (
    by: Principal,
    { before, change, target }: { before: ProjectSettings; change: ProjectSettingsChange; target?: Target },
  ): void {
    if (change.hostPaths === undefined) return;
    const [former = [], wanted] = [before.hostPaths, change.hostPaths ?? []];
    if (wanted.length === former.length && wanted.every((path, index) => path === former[index])) return;
    demand(by, "project:admin", target);
    if (localSources.mode === "cloud" && wanted.length > 0) {
      throw new Failure(
        "forbidden",
        "host_access_forbidden",
        "Cannot allow paths of the machine in cloud mode: use volumes of the project",
      );
    }
  };
}

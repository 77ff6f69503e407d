import { keptRuntimeLogs, LOGGED_DEPLOYMENTS } from "../../domain/deployments/kept_runtime_logs.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { RuntimeLogs } from "../../ports/services/runtime_logs.ts";

export interface CleanRuntimeLogsPorts {
  readonly deployments: Deployments;
  readonly runtimeLogs: RuntimeLogs;
}

/** Removes the runtime logs of old deployments, so that a project's logs take bounded space. */
export function cleanRuntimeLogs({ deployments, runtimeLogs }: CleanRuntimeLogsPorts) {
  return async function (): Promise<void> {
    for (const projectId of await runtimeLogs.crowded(LOGGED_DEPLOYMENTS)) {
      const all = await deployments.ofProject(projectId);
      const kept = keptRuntimeLogs(all);
      await runtimeLogs.remove(all.map(({ id }) => id).filter((id) => !kept.has(id)));
    }
  };
}

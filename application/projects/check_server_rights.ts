import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Project, ProjectSettingsChange } from "../../domain/projects/project.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";

export interface ServerRightsPorts {
  readonly adoptions: Adoptions;
}

/**
 * Demands `server:write` on the server that a project runs on for changes that would give rights on that server: paths
 * and volumes of it that services may mount, and what runs in adopted containers, which may do whatever they could do
 * when they were adopted.
 */
export function checkServerRights({ adoptions }: ServerRightsPorts) {
  return async function (by: Principal, { id, serverId }: Project, change: ProjectSettingsChange): Promise<void> {
    if (serverId === null) return;
    const changesServices = change.services !== undefined || change.projectType !== undefined;
    const isAdopted = changesServices && (await adoptions.list(id)).length > 0;
    if (isAdopted || change.hostPaths !== undefined) demand(by, "server:write", { id: serverId });
  };
}

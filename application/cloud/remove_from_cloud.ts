import type { Principal } from "../../domain/identity/permission.ts";
import type { CloudApi } from "../../ports/cloud/cloud_api.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { findProject } from "../projects/find_project.ts";
import { actingFor } from "./acting_for.ts";
import { cloudAnswer } from "./cloud_answer.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";

export interface RemoveFromCloudPorts extends FindCloudPorts {
  readonly cloudApi: CloudApi;
  readonly projects: Projects;
  readonly users: Users;
}

/**
 * Deletes the cloud's copy of a project, if there is one; without a link to the cloud there is nothing to ask.
 * Rejects, so that the project stays, when the cloud does not answer.
 */
export function removeFromCloud(ports: RemoveFromCloudPorts) {
  const find = findProject(ports);
  const cloudOf = findCloud(ports);
  const act = actingFor(ports);
  return async function (
    by: Principal,
    id: string,
    { volumes = false, signal }: { readonly volumes?: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    const project = await find(by, id, "project:admin");
    const cloud = project.settings.inCloud ? await cloudOf(by.organizationId) : undefined;
    if (!cloud) return;
    const actingMember = await act(by, [{ resource: "project", id, action: "admin" }]);
    const path = `/api/projects/${id}${volumes ? "?volumes=true" : ""}`;
    const response = await ports.cloudApi.send(cloud, { method: "DELETE", path, actingMember, signal });
    if (response.status === 404) await response.body?.cancel();
    else await cloudAnswer(response);
  };
}

import { grantsOnDeployment } from "../../domain/cloud/acting_member.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { CloudAddress, CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { actingFor } from "./acting_for.ts";
import { checkLinkWorks, cloudAnswer } from "./cloud_answer.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";

export interface ForwardDeploymentPorts extends FindCloudPorts {
  readonly cloudApi: CloudApi;
  readonly mode: "self-hosted" | "cloud";
  readonly projects: Projects;
  readonly users: Users;
}

/** A request about one deployment, and the permissions that it needs on it. */
export interface DeploymentRequest extends Omit<CloudRequest, "actingMember"> {
  readonly deploymentId: string;
  readonly permissions: readonly Permission[];
}

/** The cloud's response, and a check of whether a principal may still read it. */
export interface ForwardedResponse {
  readonly response: Response;
  readonly check: (by: Principal) => void;
}

/** The number of deployments whose projects are remembered. */
const REMEMBERED = 10_000;

/**
 * Forwards a request about a deployment that is not known here to the cloud, if it belongs to one of the organization's
 * cloud projects; else resolves to `undefined`. The caller's permissions are checked first, and the cloud is told to
 * allow no more.
 */
export function forwardDeployment(ports: ForwardDeploymentPorts) {
  const find = findCloud(ports);
  const act = actingFor(ports);
  /** The project of a deployment never changes. */
  const projectIds = new Map<string, string>();
  return async function (by: Principal, request: DeploymentRequest): Promise<ForwardedResponse | undefined> {
    const { deploymentId: id, permissions, ...forwarded } = request;
    const cloud = ports.mode === "cloud" || !isId("dep", id) ? undefined : await find(by.organizationId);
    const projectId = cloud && (await projectOf(by, cloud, request));
    if (!cloud || projectId === undefined) return undefined;
    const check = (principal: Principal) =>
      permissions.forEach((permission) => demand(principal, permission, { id, projectId }));
    check(by);
    const actingMember = await act(by, grantsOnDeployment(by, { id, projectId }));
    const response = await ports.cloudApi.send(cloud, { ...forwarded, actingMember });
    await checkLinkWorks(response);
    return { response, check };
  };

  /** Returns the cloud project of a deployment; `undefined` if this organization has no such deployment. */
  async function projectOf(
    { organizationId }: Principal,
    cloud: CloudAddress,
    request: DeploymentRequest,
  ): Promise<string | undefined> {
    const key = `${organizationId} ${cloud.url} ${request.deploymentId}`;
    const projectId = projectIds.get(key) ?? (await askedFor(cloud, request));
    if (projectId === undefined) return undefined;
    const project = await ports.projects.find(organizationId, projectId);
    if (project?.location !== "cloud") return undefined;
    if (projectIds.size >= REMEMBERED) projectIds.clear();
    projectIds.set(key, projectId);
    return projectId;
  }

  async function askedFor(
    cloud: CloudAddress,
    { deploymentId, signal, headers }: DeploymentRequest,
  ): Promise<string | undefined> {
    const requestId = headers?.get("x-request-id");
    const response = await ports.cloudApi.send(cloud, {
      method: "GET",
      path: `/api/deployments/${deploymentId}`,
      ...(requestId && { headers: new Headers({ "x-request-id": requestId }) }),
      signal,
    });
    if (response.status === 404) return void (await response.body?.cancel());
    const { data } = await cloudAnswer(response);
    const projectId = typeof data === "object" && data !== null && "projectId" in data ? data.projectId : undefined;
    return typeof projectId === "string" && isId("prj", projectId) ? projectId : undefined;
  }
}

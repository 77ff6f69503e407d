import { isId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { CloudAddress, CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { cloudAnswer, readCloudAnswer } from "./cloud_answer.ts";

export interface CloudProjectOfPorts {
  readonly cloudApi: CloudApi;
  readonly projects: Projects;
}

/** A deployment that a request is about. */
export interface AskedDeployment extends Pick<CloudRequest, "headers" | "signal"> {
  readonly deploymentId: string;
}

/** The number of deployments whose projects are remembered. */
const REMEMBERED = 10_000;

/**
 * Returns the project of a deployment in the cloud; `undefined` if it belongs to no project that this organization has
 * here. That is where it is decided that a deployment is in the cloud.
 */
export function cloudProjectOf(ports: CloudProjectOfPorts) {
  /** The project of a deployment never changes. */
  const projectIds = new Map<string, string>();
  return async function (
    { organizationId }: Principal,
    cloud: CloudAddress,
    request: AskedDeployment,
  ): Promise<string | undefined> {
    const key = `${organizationId} ${cloud.url} ${request.deploymentId}`;
    const projectId = projectIds.get(key) ?? (await askedFor(cloud, request));
    if (projectId === undefined) return undefined;
    const project = await ports.projects.find(organizationId, projectId);
    if (!project?.settings.inCloud) return undefined;
    if (projectIds.size >= REMEMBERED) projectIds.clear();
    projectIds.set(key, projectId);
    return projectId;
  };

  async function askedFor(
    cloud: CloudAddress,
    { deploymentId, signal, headers }: AskedDeployment,
  ): Promise<string | undefined> {
    const requestId = headers?.get("x-request-id");
    const response = await ports.cloudApi.send(cloud, {
      method: "GET",
      path: `/api/deployments/${deploymentId}`,
      ...(requestId && { headers: new Headers({ "x-request-id": requestId }) }),
      signal,
    });
    if (response.status === 404) return void (await readCloudAnswer(response));
    const { data } = await cloudAnswer(response);
    const projectId = typeof data === "object" && data !== null && "projectId" in data ? data.projectId : undefined;
    return typeof projectId === "string" && isId("prj", projectId) ? projectId : undefined;
  }
}

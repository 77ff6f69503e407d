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

/** Finds the projects of deployments in the cloud. That is where it is decided that a deployment is in the cloud. */
export function cloudProjectOf(ports: CloudProjectOfPorts) {
  /** The project of a deployment never changes, nor its cloud. */
  const places = new Map<string, { readonly url: string; readonly projectId: string }>();
  return { isKnown, find };

  /** Returns whether a deployment was found in a cloud before, so that it is not here. */
  function isKnown({ organizationId }: Principal, deploymentId: string): boolean {
    return places.has(`${organizationId} ${deploymentId}`);
  }

  /** Returns the project of a deployment; `undefined` if it belongs to no project that this organization has here. */
  async function find(
    { organizationId }: Principal,
    cloud: CloudAddress,
    request: AskedDeployment,
  ): Promise<string | undefined> {
    const key = `${organizationId} ${request.deploymentId}`;
    const known = places.get(key);
    const projectId = known?.url === cloud.url ? known.projectId : await askedFor(cloud, request);
    if (projectId === undefined) return undefined;
    const project = await ports.projects.find(organizationId, projectId);
    if (!project?.settings.inCloud) return undefined;
    if (places.size >= REMEMBERED) places.clear();
    places.set(key, { url: cloud.url, projectId });
    return projectId;
  }

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

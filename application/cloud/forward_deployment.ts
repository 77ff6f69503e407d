import { type ActingMember, grantsOnDeployment } from "../../domain/cloud/acting_member.ts";
import { cloudUnreadable } from "../../domain/cloud/cloud_failures.ts";
import { FORWARDED } from "../../domain/cloud/passed_headers.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { CloudAddress, CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { actingFor } from "./acting_for.ts";
import { readCloudAnswer } from "./cloud_answer.ts";
import { cloudProjectOf } from "./cloud_project_of.ts";
import { findCloud, type FindCloudPorts } from "./find_cloud.ts";
import { handOverProject, type HandOverProjectPorts } from "./hand_over_project.ts";

export interface ForwardDeploymentPorts extends FindCloudPorts, HandOverProjectPorts {
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

/** The routes that start a build. */
const BUILDS = /\/(?:redeploy|build)(?:\?|$)/;
const HAND_OVER_MS = 30_000;

/** Forwards requests about deployments that are not known here to the cloud. */
export function forwardDeployment(ports: ForwardDeploymentPorts) {
  const find = findCloud(ports);
  const act = actingFor(ports);
  const handOver = handOverProject(ports);
  const projectOf = cloudProjectOf(ports);
  return { isKnown: projectOf.isKnown, send };

  /**
   * Forwards a request, if its deployment belongs to one of the organization's cloud projects; else resolves to
   * `undefined`. The caller's permissions are checked first, and the cloud is told to allow no more.
   */
  async function send(by: Principal, request: DeploymentRequest): Promise<ForwardedResponse | undefined> {
    const { deploymentId: id, permissions, ...forwarded } = request;
    // What another Slipway has sent here is not passed on again: links in a circle would never end.
    const isHere = ports.mode === "cloud" || !isId("dep", id) || request.headers?.has(FORWARDED);
    if (isHere) return undefined;
    const [cloud, member, isPossible] = await Promise.all([
      find(by.organizationId),
      act(by, []),
      projectOf.isKnown(by, id) || hasCloudProjects(by),
    ]);
    if (!isPossible) return undefined;
    const projectId = cloud && (await projectOf.find(by, cloud, request));
    if (!cloud || projectId === undefined) return undefined;
    const check = (principal: Principal) =>
      permissions.forEach((permission) => demand(principal, permission, { id, projectId }));
    check(by);
    const actingMember = { ...member, grants: grantsOnDeployment(by, { id, projectId }) };
    if (BUILDS.test(request.path) && request.method === "POST")
      await handedOver(by, cloud, { projectId, actingMember });
    const response = await ports.cloudApi.send(cloud, { ...forwarded, actingMember });
    return { response: await checked(response), check };
  }

  async function hasCloudProjects({ organizationId }: Principal): Promise<boolean> {
    const { total } = await ports.projects.list(organizationId, { inCloud: true }, { page: 1, perPage: 1 });
    return total > 0;
  }

  /** A build uses the variables and settings of the project as they are when it starts. */
  async function handedOver(
    { organizationId }: Principal,
    cloud: CloudAddress,
    { projectId, actingMember }: { readonly projectId: string; readonly actingMember: ActingMember },
  ): Promise<void> {
    const project = await ports.projects.find(organizationId, projectId);
    if (project) await handOver({ cloud, project, actingMember }, AbortSignal.timeout(HAND_OVER_MS));
  }
}

/**
 * Returns a response that is safe to pass on. JSON is read whole, so that what is cut becomes an error; streams of text
 * and events are passed on as they arrive; anything else is nothing that the cloud's API says.
 */
async function checked(response: Response): Promise<Response> {
  const { headers, status } = response;
  if (status === 204) return response;
  const media = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (media === "application/json") {
    const { text } = await readCloudAnswer(response);
    // The text may be longer than what it was decoded from.
    headers.delete("content-length");
    return new Response(text, { status, headers });
  }
  if (response.ok && (media === "text/plain" || media === "text/event-stream")) return response;
  await readCloudAnswer(response);
  throw cloudUnreadable();
}

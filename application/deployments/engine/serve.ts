import { addressesOf } from "../../../domain/deployment/public_address.ts";
import type { Deployment } from "../../../domain/deployment/deployment.ts";
import type { Project } from "../../../domain/project.ts";
import type { Domains } from "../../../ports/domains.ts";
import type { Edge, EdgeRoute } from "../../../ports/edge.ts";
import type { LiveRelease } from "../../../ports/live_releases.ts";
import type { ReleaseFolders } from "../../../ports/release_folders.ts";
import type { Runtime } from "../../../ports/runtime.ts";

export interface ServePorts {
  readonly domains: Domains;
  readonly edge: Edge;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

const ALL = { page: 1, perPage: 100 };

/** The host names that lead to a deployment, in this installation. */
export async function publicAddresses(
  ports: Pick<ServePorts, "domains">,
  project: Project,
  deployment: Deployment,
  baseDomain: string,
) {
  const { items } = await ports.domains.list(project.organizationId, { projectIds: [project.id] }, ALL);
  return addressesOf(deployment, { project, domains: items, baseDomain });
}

/** The routes that lead to a deployment as it runs now; none while nothing of it answers. */
export async function routesTo(
  ports: ServePorts,
  project: Project,
  deployment: Deployment,
  baseDomain: string,
): Promise<EdgeRoute[]> {
  const target = await targetOf(ports, deployment);
  return target ? routesAt(ports, { project, deployment }, target, baseDomain) : [];
}

/** The routes of a deployment's addresses to one target. */
export async function routesAt(
  ports: Pick<ServePorts, "domains">,
  { project, deployment }: LiveRelease,
  target: EdgeRoute["target"],
  baseDomain: string,
): Promise<EdgeRoute[]> {
  const addresses = await publicAddresses(ports, project, deployment, baseDomain);
  return addresses.map((address) => ({
    ...address,
    projectId: routeKey(deployment),
    deploymentId: deployment.id,
    target,
  }));
}

async function targetOf(
  { releaseFolders, runtime }: ServePorts,
  deployment: Deployment,
): Promise<EdgeRoute["target"] | undefined> {
  if (deployment.plan.projectType === "static") {
    const folder = await releaseFolders.find(deployment.artifactOf ?? deployment.id);
    return folder?.finished ? { kind: "folder", path: staticFolder(folder.path, deployment) } : undefined;
  }
  const [service] = deployment.services;
  const instance = service?.instanceId ? await runtime.find(service.instanceId) : undefined;
  return instance && { kind: "address", host: instance.host, port: instance.port };
}

/** The folder of a release that a static site is served from. */
export function staticFolder(folder: string, { plan }: Deployment): string {
  return [folder, plan.rootDirectory, plan.outputDirectory]
    .filter((part) => part !== null && part !== "" && part !== ".")
    .join("/");
}

/** What the edge knows a deployment's routes by: its project, or itself for a preview. */
export function routeKey({ environment, id, projectId }: Deployment): string {
  return environment === "preview" ? id : projectId;
}

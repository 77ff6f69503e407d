import { scopeOf } from "../../domain/deployments/release_scope.ts";
import { addressesOf, type PublicAddress } from "../../domain/deployments/public_address.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { hasServices, innerPath, siteFolder, soleService } from "../../domain/services/sole_service.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { Edge, EdgeRoute } from "../../ports/domains/edge.ts";
import type { LiveRelease } from "../../ports/deployments/live_releases.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { filesOf } from "./start_service.ts";

/** How long the engine may take to look up an instance before visitors are asked to retry. */
const FIRST_LOOK_MS = 1_000;

export interface ServePorts extends RoutePorts {
  readonly edge: Edge;
  readonly runtime: Runtime;
}

/** What is needed to find out where routes lead. */
export interface RoutePorts {
  readonly domains: ProjectNames;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Pick<Runtime, "find">;
}

/** Looks up the host names of projects. */
export type ProjectNames = Pick<Domains, "ofProjects">;

/** Loads the host names of these projects in one query; the result has no names for other projects. */
export async function namesReadAhead(domains: ProjectNames, projectIds: readonly string[]): Promise<ProjectNames> {
  const names = await domains.ofProjects([...new Set(projectIds)]);
  const byProject = Map.groupBy(names, ({ projectId }) => projectId);
  return { ofProjects: async (ids) => ids.flatMap((id) => byProject.get(id) ?? []) };
}

/** The public addresses of a deployment in this installation. */
export async function publicAddresses(
  ports: Pick<RoutePorts, "domains">,
  project: Project,
  deployment: Deployment,
  baseDomain: string,
) {
  const domains = await ports.domains.ofProjects([project.id]);
  return addressesOf(deployment, { project, domains, baseDomain });
}

/** The routes to a deployment as it runs now; a target that is not found gets no route. */
export function routesTo(
  ports: RoutePorts,
  project: Project,
  deployment: Deployment,
  baseDomain: string,
): Promise<EdgeRoute[]> {
  return routesBy(targetOf, { ports, release: { project, deployment }, baseDomain });
}

/**
 * Like `routesTo`, at server start: a target that is not up, or cannot be looked up in time, asks visitors to retry.
 */
export function firstRoutesTo(ports: RoutePorts, release: LiveRelease, baseDomain: string): Promise<EdgeRoute[]> {
  const starting: Found = { target: { kind: "starting" }, servedBy: release.deployment.id };
  const soon = async (...args: Parameters<typeof targetOf>) => {
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), FIRST_LOOK_MS));
    const found = await Promise.race([targetOf(...args).catch(() => undefined), late]);
    return found && found.isUp !== false ? found : starting;
  };
  return routesBy(soon, { ports, release, baseDomain });
}

interface Routing {
  readonly ports: RoutePorts;
  readonly release: LiveRelease;
  readonly baseDomain: string;
}

async function routesBy(lookUp: typeof targetOf, { ports, release, baseDomain }: Routing): Promise<EdgeRoute[]> {
  const { deployment, project } = release;
  const addresses = await publicAddresses(ports, project, deployment, baseDomain);
  // Many host names may share a target, which is looked up once.
  const targets = new Map<string, Promise<Found | undefined>>();
  const routes = addresses.map(async (address) => {
    const place = `${address.service} ${address.port}`;
    if (!targets.has(place)) targets.set(place, lookUp(ports, deployment, address));
    const found = await targets.get(place);
    return found ? [routeOf(deployment, address, found)] : [];
  });
  return (await Promise.all(routes)).flat();
}

interface Found extends Pick<EdgeRoute, "target" | "servedBy"> {
  /** Whether a program is up; absent for a folder. */
  readonly isUp?: boolean;
}

function routeOf(
  deployment: Deployment,
  { hostname, pathPrefix }: PublicAddress,
  { servedBy, target }: Found,
): EdgeRoute {
  return { hostname, pathPrefix, projectId: scopeOf(deployment), servedBy, target };
}

async function targetOf(
  ports: RoutePorts,
  deployment: Deployment,
  { port: inside, service: name }: PublicAddress,
): Promise<Found | undefined> {
  const service = deployment.services.find((known) => known.name === name);
  const site = service?.site ?? (hasServices(deployment) ? null : siteFolder(soleService(deployment).spec));
  if (site !== null) return siteAt(ports, filesOf(deployment, service ?? {}), site);
  // A service that has never come up has an address with nothing behind it.
  if (!service?.instanceId)
    return hasServices(deployment) ? { target: { kind: "none" }, servedBy: deployment.id } : undefined;
  const instance = await ports.runtime.find(service.instanceId);
  const port = instance?.ports.find((known) => known.inside === inside)?.port ?? instance?.port;
  if (!instance || port === null || port === undefined) return undefined;
  const target = { kind: "address", host: instance.host, port } as const;
  return { target, servedBy: instance.instanceId, isUp: instance.status === "running" };
}

async function siteAt(
  { releaseFolders }: RoutePorts,
  deployment: Deployment,
  site: string,
): Promise<Found | undefined> {
  const folder = await releaseFolders.find(deployment.artifactOf ?? deployment.id);
  if (!folder?.finished) return undefined;
  return { target: { kind: "folder", path: innerPath(folder.path, site) }, servedBy: deployment.id };
}

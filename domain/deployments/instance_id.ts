import type { Deployment } from "./deployment.ts";

const IN_CONTAINER = "-c";

const ON_SERVER = /-(srv_[a-z0-9]+)-c$/;
const ADOPTED_ID_LENGTH = 24;
const ADOPTED = /^(dep_[a-z0-9]+)-([A-Za-z0-9_-]+)-a([0-9a-f]{24})-(prj_[a-z0-9]+)-(srv_[a-z0-9]+)-c$/;
const LONGEST = 40;

/** The deployment that an instance belongs to, and its attempt. */
export interface InstanceOwner {
  readonly id: Deployment["id"];
  readonly attempts: number | string;
}

/** Where an instance runs: from a folder, or from an image on the engine of this machine or of a server. */
export type InstancePlace = "folder" | "image" | { readonly serverId: string };

/** Returns the instance id of a service in this attempt; it encodes where the instance runs. */
export function instanceIdOf({ id, attempts }: InstanceOwner, service: string, place: InstancePlace): string {
  const start = `${id}-${plain(service)}-${attempts}`;
  if (place === "folder") return start;
  return place === "image" ? `${start}${IN_CONTAINER}` : `${start}-${place.serverId}${IN_CONTAINER}`;
}

/** A container of a server that was not started by Slipway, but adopted as a service of a project. */
export interface AdoptedInstance {
  readonly deploymentId: string;
  readonly projectId: string;
  readonly serverId: string;
  readonly service: string;
  /** The beginning of the container's id, which is enough to identify it. */
  readonly containerId: string;
}

/** Returns the instance id of an adopted container; it says everything that a container started here has as labels. */
export function adoptedInstanceId(adopted: AdoptedInstance): string {
  const { containerId, deploymentId, projectId, serverId, service } = adopted;
  const container = containerId.slice(0, ADOPTED_ID_LENGTH);
  return `${deploymentId}-${service}-a${container}-${projectId}-${serverId}${IN_CONTAINER}`;
}

/** Returns the adopted container that an instance id names; `undefined` for any other instance. */
export function adoptedInstance(instanceId: string): AdoptedInstance | undefined {
  const [, deploymentId, service, containerId, projectId, serverId] = ADOPTED.exec(instanceId) ?? [];
  if (serverId === undefined) return undefined;
  return { deploymentId: deploymentId!, service: service!, containerId: containerId!, projectId: projectId!, serverId };
}

/** Returns the id of the server that an instance runs on; `null` for this machine. */
export function serverOf(instanceId: string): string | null {
  return ON_SERVER.exec(instanceId)?.[1] ?? null;
}

/** Ids consist of letters, digits, _ and -; any other service name is sanitized and gets a hash to stay unique. */
function plain(service: string): string {
  const word = service.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, LONGEST);
  return word === service ? word : `${word}-${numberOf(service).toString(36)}`;
}

function numberOf(text: string): number {
  let sum = 0;
  for (const sign of text) sum = (sum * 31 + sign.codePointAt(0)!) % 2_147_483_647;
  return sum;
}

/** Returns the deployment that an instance was first started for. */
export function deploymentOfInstance(instanceId: string): string {
  return instanceId.slice(0, instanceId.indexOf("-"));
}

/**
 * Returns the servers that a deployment may have instances on, with `null` for this machine: the one that it was deployed
 * to, and those of former services that still run in place of failed ones.
 */
export function serversOf({ plan, services }: Pick<Deployment, "plan" | "services">): ReadonlySet<string | null> {
  const taken = services.flatMap(({ instanceId }) => (instanceId === null ? [] : [serverOf(instanceId)]));
  return new Set([plan.serverId ?? null, ...taken]);
}

/** Returns whether any service of a deployment was, or may have been, started in a container. */
export function inContainers({ services }: Pick<Deployment, "services">): boolean {
  return services.some(({ instanceId }) => instanceId !== null && runnableKindOf(instanceId) === "image");
}

/** Returns whether a deployment may have containers or images; for all others no container engine is contacted. */
export function usesContainers(deployment: Pick<Deployment, "plan" | "services">): boolean {
  return deployment.plan.runtime === "docker" || inContainers(deployment);
}

/** Returns whether an instance runs from a folder or an image. */
export function runnableKindOf(instanceId: string): "folder" | "image" {
  return instanceId.endsWith(IN_CONTAINER) ? "image" : "folder";
}

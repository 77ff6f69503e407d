import type { Deployment } from "./deployment.ts";

const IN_CONTAINER = "-c";

const LONGEST = 40;

/** Whose an instance is, and which time it is started. */
export interface InstanceOwner {
  readonly id: Deployment["id"];
  readonly attempts: number | string;
}

/** What an instance of a deployment's service is known by, this time it is started; it tells what it runs from. */
export function instanceIdOf({ id, attempts }: InstanceOwner, service: string, kind: "folder" | "image"): string {
  return `${id}-${plain(service)}-${attempts}${kind === "image" ? IN_CONTAINER : ""}`;
}

/** Ids are of letters, digits, _ and -; a name that is not gets a number of its own. */
function plain(service: string): string {
  const word = service.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, LONGEST);
  return word === service ? word : `${word}-${numberOf(service).toString(36)}`;
}

function numberOf(text: string): number {
  let sum = 0;
  for (const sign of text) sum = (sum * 31 + sign.codePointAt(0)!) % 2_147_483_647;
  return sum;
}

/** Tells which deployment an instance was first started for. */
export function starterOf(instanceId: string): string {
  return instanceId.slice(0, instanceId.indexOf("-"));
}

/** Tells whether something of a deployment was, or may have been, started in containers. */
export function inContainers({ services }: Pick<Deployment, "services">): boolean {
  return services.some(({ instanceId }) => instanceId !== null && runnableKindOf(instanceId) === "image");
}

/** Tells whether anything of a deployment may be in containers or images; nothing of any other asks an engine. */
export function usesContainers(deployment: Pick<Deployment, "plan" | "services">): boolean {
  return deployment.plan.runtime === "docker" || inContainers(deployment);
}

/** Tells what an instance runs from. */
export function runnableKindOf(instanceId: string): "folder" | "image" {
  return instanceId.endsWith(IN_CONTAINER) ? "image" : "folder";
}

import type { Deployment } from "./deployment.ts";

const IN_CONTAINER = "-c";

/** What an instance of a deployment's service is known by, this time it is started; it tells what it runs from. */
export function instanceIdOf({ id, attempts }: Deployment, service: string, kind: "folder" | "image"): string {
  return `${id}-${service}-${attempts}${kind === "image" ? IN_CONTAINER : ""}`;
}

/** Tells what an instance runs from. */
export function runnableKindOf(instanceId: string): "folder" | "image" {
  return instanceId.endsWith(IN_CONTAINER) ? "image" : "folder";
}

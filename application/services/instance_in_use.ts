import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Instance } from "../../ports/services/runtime.ts";

export interface InstanceInUsePorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
}

/** Tells whether an instance is part of what its project serves, whichever deployment started it, or of a deployment that is being carried out. */
export async function isInUse(
  ports: InstanceInUsePorts,
  { deploymentId, instanceId, projectId }: Pick<Instance, "deploymentId" | "instanceId" | "projectId">,
): Promise<boolean> {
  const deployment = await ports.deployments.get(deploymentId);
  if (deployment && (await isNeeded(ports, deployment))) return true;
  // Looked at last: what was being brought live a moment ago may be so by now.
  const live = await ports.liveReleases.find(projectId);
  return live?.deployment.services.some((service) => service.instanceId === instanceId) ?? false;
}

async function isNeeded({ liveReleases }: InstanceInUsePorts, deployment: Deployment): Promise<boolean> {
  if (isRunning(deployment)) return true;
  if (deployment.environment === "preview") return servesAsPreview(deployment);
  // Somebody is leading visitors back to it, or may be.
  const live = await liveReleases.find(deployment.projectId);
  return live?.deployment.replaces === deployment.id && live.deployment.asked !== null;
}

import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Instance } from "../../ports/services/runtime.ts";

export interface InstanceInUsePorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
}

/**
 * Returns whether an instance belongs to the live release of its project, whichever deployment started it, or to a
 * deployment in progress.
 */
export async function isInUse(
  ports: InstanceInUsePorts,
  { deploymentId, instanceId, projectId }: Pick<Instance, "deploymentId" | "instanceId" | "projectId">,
): Promise<boolean> {
  const deployment = await ports.deployments.get(deploymentId);
  if (deployment && (await isNeeded(ports, deployment))) return true;
  // Checked last: a deployment that was in progress a moment ago may be live by now.
  const live = await ports.liveReleases.find(projectId);
  return live?.deployment.services.some((service) => service.instanceId === instanceId) ?? false;
}

async function isNeeded({ liveReleases }: InstanceInUsePorts, deployment: Deployment): Promise<boolean> {
  if (isRunning(deployment)) return true;
  if (deployment.environment === "preview") return servesAsPreview(deployment);
  // A decision on the live release is being carried out, and may roll traffic back to this deployment.
  const live = await liveReleases.find(deployment.projectId);
  return live?.deployment.replaces === deployment.id && live.deployment.pendingDecision !== null;
}

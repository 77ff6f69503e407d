import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { instancesAt } from "./instances_at.ts";
import { stopInstances } from "./stop_instances.ts";

/**
 * Stops and removes all instances of a deployment, except those that the live release of its project has taken over.
 */
export async function removeInstances(
  { liveReleases, runtime }: { readonly liveReleases: LiveReleases; readonly runtime: Runtime },
  deployment: Pick<Deployment, "id" | "plan" | "projectId" | "services">,
): Promise<void> {
  const { id, projectId, services } = deployment;
  const live = await liveReleases.find(projectId);
  const needed = new Set(
    live?.deployment.id === id ? [] : live?.deployment.services.map(({ instanceId }) => instanceId),
  );
  const referred = new Set(services.map(({ instanceId }) => instanceId));
  const own = (await instancesAt({ runtime }, [deployment])).filter(
    ({ deploymentId, instanceId }) => (deploymentId === id || referred.has(instanceId)) && !needed.has(instanceId),
  );
  await stopInstances({ runtime }, own);
}

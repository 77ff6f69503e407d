import type { Deployment } from "../../domain/deployment/deployment.ts";
import type { LiveReleases } from "../../ports/live_releases.ts";
import type { Runtime } from "../../ports/runtime.ts";

const GRACE_MS = 10_000;

/** Stops and forgets everything that runs of a deployment, but for what the live release of its project has taken over. */
export async function removeInstances(
  { liveReleases, runtime }: { readonly liveReleases: LiveReleases; readonly runtime: Runtime },
  { id, projectId, services }: Pick<Deployment, "id" | "projectId" | "services">,
): Promise<void> {
  const live = await liveReleases.find(projectId);
  const needed = new Set(
    live?.deployment.id === id ? [] : live?.deployment.services.map(({ instanceId }) => instanceId),
  );
  const referred = new Set(services.map(({ instanceId }) => instanceId));
  const own = (await runtime.list()).filter(
    ({ deploymentId, instanceId }) => (deploymentId === id || referred.has(instanceId)) && !needed.has(instanceId),
  );
  for (const { instanceId } of own) await runtime.remove(instanceId, { graceMs: GRACE_MS });
}

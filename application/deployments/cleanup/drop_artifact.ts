import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { deploymentOfInstance } from "../../../domain/deployments/instance_id.ts";
import type { Deployments } from "../../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../../ports/deployments/live_releases.ts";
import type { ReleaseFolders } from "../../../ports/deployments/release_folders.ts";
import type { Runtime } from "../../../ports/services/runtime.ts";
import { instancesAt } from "../../services/instances_at.ts";

export interface DropArtifactPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

/**
 * Removes the release folder of a deleted or ended deployment. Leaves it to the sweep if another deployment uses it,
 * will start from it or has taken over instances that run in it.
 */
export async function dropArtifact(
  { deployments, liveReleases, releaseFolders, runtime }: DropArtifactPorts,
  deployment: Pick<Deployment, "id" | "artifactOf" | "plan" | "projectId" | "services">,
): Promise<void> {
  const { id, artifactOf, projectId } = deployment;
  const artifact = artifactOf ?? id;
  if ((await instancesAt({ runtime }, [deployment])).some(({ deploymentId }) => deploymentId === id)) return;
  const live = await liveReleases.find(projectId);
  if (live && runsPartOf(live.deployment, id)) return;
  const all = await deployments.ofProject(projectId);
  if (!all.some((other) => needsArtifact(other, artifact))) await releaseFolders.remove(artifact);
}

/** Returns whether a deployment uses the release folder of `of`, or will start from it. */
export function needsArtifact(deployment: Deployment, of: string): boolean {
  return (deployment.artifactAvailable && artifactsOf(deployment).includes(of)) || startsFrom(deployment) === of;
}

/**
 * Returns whether a deployment includes services that `startedBy` started. Reads the stored instance ids, because an
 * engine that is down cannot list its instances.
 */
export function runsPartOf({ services }: Pick<Deployment, "services">, startedBy: Deployment["id"]): boolean {
  return services.some(({ instanceId }) => instanceId !== null && deploymentOfInstance(instanceId) === startedBy);
}

/**
 * Ids of the deployments whose release folders a deployment runs with: its own or the one it rolled back to, and those
 * of former service versions that are back.
 */
export function artifactsOf({ artifactOf, id, services }: Deployment): readonly string[] {
  return [artifactOf ?? id, ...services.flatMap(({ filesOf }) => filesOf ?? [])];
}

/** The id of the deployment whose release folder a deployment that is not built yet will reuse or copy. */
export function startsFrom({ source, status }: Deployment): string | undefined {
  if (status !== "queued" && status !== "building") return undefined;
  return source.kind === "artifact" || source.kind === "copy" ? source.deploymentId : undefined;
}

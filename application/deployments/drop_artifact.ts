import type { Deployment } from "../../domain/deployments/deployment.ts";
import { starterOf, usesContainers } from "../../domain/deployments/instance_id.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { ReleaseFolders } from "../../ports/deployments/release_folders.ts";
import type { Runtime } from "../../ports/services/runtime.ts";

export interface DropArtifactPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

/** Gives up the release folder of a deployment that was deleted or ended, unless another one has it, will start from it or has taken over what runs in it: then the sweep does. */
export async function dropArtifact(
  { deployments, liveReleases, releaseFolders, runtime }: DropArtifactPorts,
  deployment: Pick<Deployment, "id" | "artifactOf" | "plan" | "projectId" | "services">,
): Promise<void> {
  const { id, artifactOf, projectId } = deployment;
  const artifact = artifactOf ?? id;
  const containers = usesContainers(deployment);
  if ((await runtime.list({ containers })).some(({ deploymentId }) => deploymentId === id)) return;
  const live = await liveReleases.find(projectId);
  if (live && runsPartOf(live.deployment, id)) return;
  const all = await deployments.ofProject(projectId);
  if (!all.some((other) => needsArtifact(other, artifact))) await releaseFolders.remove(artifact);
}

/** Tells whether a deployment has the release folder of this one, or will start from it. */
export function needsArtifact(deployment: Deployment, of: string): boolean {
  return (deployment.artifactAvailable && artifactsOf(deployment).includes(of)) || startsFrom(deployment) === of;
}

/** Tells whether services of a deployment run that another one started; an engine that is away would not tell. */
export function runsPartOf({ services }: Pick<Deployment, "services">, startedBy: Deployment["id"]): boolean {
  return services.some(({ instanceId }) => instanceId !== null && starterOf(instanceId) === startedBy);
}

/** Whose release folders a deployment runs with: its own, or that of the one it goes back to, and those of former versions that are back. */
export function artifactsOf({ artifactOf, id, services }: Deployment): readonly string[] {
  return [artifactOf ?? id, ...services.flatMap(({ filesOf }) => filesOf ?? [])];
}

/** Whose release folder a deployment that is not built yet will take or copy. */
export function startsFrom({ source, status }: Deployment): string | undefined {
  if (status !== "queued" && status !== "building") return undefined;
  return source.kind === "artifact" || source.kind === "copy" ? source.deploymentId : undefined;
}

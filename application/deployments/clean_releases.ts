import type { Deployment } from "../../domain/deployment/deployment.ts";
import { isRunning } from "../../domain/deployment/transitions.ts";
import type { Project } from "../../domain/project.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { ReleaseFolders } from "../../ports/release_folders.ts";

export interface CleanReleasesPorts {
  readonly deployments: Deployments;
  readonly releaseFolders: ReleaseFolders;
}

/** Removes the release folders of a project that nobody can go back to: beyond the window, not pinned, not in use. */
export function cleanReleases({ deployments, releaseFolders }: CleanReleasesPorts, defaultWindow: number) {
  return async function (project: Project): Promise<void> {
    const all = await deployments.ofProject(project.id);
    const keep = keptArtifacts(all, {
      activeId: project.activeDeploymentId,
      window: project.settings.rollbackWindow ?? defaultWindow,
    });
    for (const deployment of all) {
      if (!deployment.artifactAvailable || keep.has(deployment.artifactOf ?? deployment.id)) continue;
      await deployments.change(deployment.id, (stored) => ({
        deployment: { ...stored, artifactAvailable: false },
        events: [],
      }));
      await releaseFolders.remove(deployment.artifactOf ?? deployment.id);
    }
  };
}

/** Tells whether a deployment has the release folder of this one, or will start from it. */
export function needsArtifact(deployment: Deployment, of: string): boolean {
  const { artifactAvailable, artifactOf, id } = deployment;
  return (artifactAvailable && (artifactOf ?? id) === of) || startsFrom(deployment) === of;
}

/** Whose release folder a deployment that is not built yet will take or copy. */
function startsFrom({ source, status }: Deployment): string | undefined {
  if (status !== "queued" && status !== "building") return undefined;
  return source.kind === "artifact" || source.kind === "copy" ? source.deploymentId : undefined;
}

/** Whose release folders stay: of what is live or running, of pinned ones, and of the newest former releases within the window. */
export function keptArtifacts(
  newestFirst: readonly Deployment[],
  { activeId, window }: { readonly activeId: string | null; readonly window: number },
): ReadonlySet<string> {
  const keep = new Set<string>();
  let former = 0;
  for (const deployment of newestFirst) {
    const artifact = deployment.artifactOf ?? deployment.id;
    const origin = startsFrom(deployment);
    if (origin !== undefined) keep.add(origin);
    if (deployment.id === activeId || isRunning(deployment) || deployment.decision === "pending" || deployment.pinned)
      keep.add(artifact);
    else if (
      deployment.status === "ready" &&
      deployment.environment === "production" &&
      former < window &&
      !keep.has(artifact)
    ) {
      keep.add(artifact);
      former++;
    } else if (deployment.status === "ready" && deployment.environment === "preview") keep.add(artifact);
  }
  return keep;
}

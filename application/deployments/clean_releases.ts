import type { Deployment } from "../../domain/deployment/deployment.ts";
import { isRunning, servesAsPreview } from "../../domain/deployment/transitions.ts";
import type { Project } from "../../domain/project.ts";
import { startsFrom } from "./drop_artifact.ts";
import { endPreviews, type EndPreviewsPorts } from "./end_previews.ts";
import { hasServices } from "./engine/records_of.ts";

/** Ends the previews of a project beyond the window, and removes the release folders that nobody can go back to: beyond the window, not pinned, not in use; resolves to whether there were any. */
export function cleanReleases(ports: EndPreviewsPorts, defaultWindow: number) {
  const { deployments, releaseFolders, runtime } = ports;
  const end = endPreviews(ports);
  return async function (project: Project): Promise<boolean> {
    const window = project.settings.rollbackWindow ?? defaultWindow;
    const all = await deployments.ofProject(project.id);
    const ended = await end(all, window);
    const left = all.filter(({ id }) => !ended.has(id));
    const keep = new Set([
      ...keptArtifacts(left, { activeId: project.activeDeploymentId, window }),
      ...(await runIn(left, project)),
    ]);
    let wereAny = ended.size > 0;
    for (const deployment of left) {
      if (!deployment.artifactAvailable || keep.has(deployment.artifactOf ?? deployment.id)) continue;
      await deployments.change(deployment.id, (stored) => ({
        deployment: { ...stored, artifactAvailable: false },
        events: [],
      }));
      await releaseFolders.remove(deployment.artifactOf ?? deployment.id);
      wereAny = true;
    }
    return wereAny;
  };

  /** Whose release folders services of the live release run in, or see, that were left as they were. */
  async function runIn(all: readonly Deployment[], { activeDeploymentId }: Project): Promise<readonly string[]> {
    const live = all.find(({ id }) => id === activeDeploymentId);
    if (!live || !hasServices(live)) return [];
    const needed = new Set(live.services.flatMap(({ instanceId }) => instanceId ?? []));
    const instances = await Promise.all(Array.from(needed, (instanceId) => runtime.find(instanceId)));
    const owners = new Set(instances.flatMap((instance) => instance?.deploymentId ?? []));
    return Array.from(owners, (owner) => all.find(({ id }) => id === owner)?.artifactOf ?? owner);
  }
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
    if (deployment.decision === "pending") keep.add(artifactOfFormer(newestFirst, deployment));
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
    } else if (servesAsPreview(deployment)) keep.add(artifact);
  }
  return keep;
}

/** Whose release folder a pending decision may go back to. */
function artifactOfFormer(all: readonly Deployment[], { replaces, id }: Deployment): string {
  return all.find((other) => other.id === replaces)?.artifactOf ?? replaces ?? id;
}

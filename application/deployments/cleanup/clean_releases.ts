import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { isRunning, servesAsPreview } from "../../../domain/deployments/transitions.ts";
import { previewsOf, type Project } from "../../../domain/projects/project.ts";
import { cleanSources } from "./clean_sources.ts";
import { artifactsOf, startsFrom } from "./drop_artifact.ts";
import { endPreviews, type EndPreviewsPorts, type RunInBackground } from "./end_previews.ts";
import { hasServices } from "../../../domain/services/sole_service.ts";
import type { KeptSources } from "../../../ports/projects/kept_sources.ts";

export interface CleanReleasesPorts extends EndPreviewsPorts {
  readonly keptSources: KeptSources;
}

/**
 * Ends the previews of a project beyond the rollback window, and removes the release folders that no rollback can use:
 * beyond the window, not pinned, not in use. Their kept sources go with them. Resolves to whether anything was ended or
 * removed.
 */
export function cleanReleases(ports: CleanReleasesPorts, defaultWindow: number, later?: RunInBackground) {
  const { deployments, releaseFolders, runtime } = ports;
  const end = endPreviews(ports, later);
  return async function (project: Project): Promise<boolean> {
    const window = project.settings.rollbackWindow ?? defaultWindow;
    const all = await deployments.ofProject(project.id);
    const ended = await end(all, { window, pullRequests: previewsOf(project) });
    const left = all.filter(({ id }) => !ended.has(id));
    const keep = new Set([
      ...keptArtifacts(left, { activeId: project.activeDeploymentId, window }),
      ...(await runIn(left, project)),
    ]);
    let wereAny = ended.size > 0;
    for (const deployment of left) {
      if (!deployment.artifactAvailable || keep.has(deployment.artifactOf ?? deployment.id)) continue;
      // It may have been pinned meanwhile.
      const changed = await deployments.change(deployment.id, (stored) =>
        stored.pinned ? undefined : { deployment: { ...stored, artifactAvailable: false }, events: [] },
      );
      if (changed?.pinned) continue;
      await releaseFolders.remove(deployment.artifactOf ?? deployment.id);
      wereAny = true;
    }
    await cleanSources(ports, defaultWindow)(project);
    return wereAny;
  };

  /**
   * Ids of the deployments whose release folders the live release's services run in or mount, where an unchanged
   * service was kept from an earlier deployment.
   */
  async function runIn(all: readonly Deployment[], { activeDeploymentId }: Project): Promise<readonly string[]> {
    const live = all.find(({ id }) => id === activeDeploymentId);
    if (!live || !hasServices(live)) return [];
    const needed = new Set(live.services.flatMap(({ instanceId }) => instanceId ?? []));
    const instances = await Promise.all(Array.from(needed, (instanceId) => runtime.find(instanceId)));
    const owners = new Set(instances.flatMap((instance) => instance?.deploymentId ?? []));
    return [...owners].flatMap((ownerId) => {
      const owner = all.find(({ id }) => id === ownerId);
      return owner ? artifactsOf(owner) : [ownerId];
    });
  }
}

/**
 * Ids of the deployments whose release folders stay: live, running or pinned ones, and the newest former releases
 * within the window.
 */
export function keptArtifacts(
  newestFirst: readonly Deployment[],
  { activeId, window }: { readonly activeId: string | null; readonly window: number },
): ReadonlySet<string> {
  const keep = new Set<string>();
  const stay = new Set<Deployment>();
  let former = 0;
  for (const deployment of newestFirst) {
    const artifact = deployment.artifactOf ?? deployment.id;
    const isPending = deployment.decision === "pending";
    const origin = startsFrom(deployment);
    if (origin !== undefined) keep.add(origin);
    const back = wayBackOf(newestFirst, deployment);
    if (back) keep.add(back.artifactOf ?? back.id);
    if (back) stay.add(back);
    if (deployment.id === activeId || isRunning(deployment) || isPending || deployment.pinned) stay.add(deployment);
    else if (
      deployment.status === "ready" &&
      deployment.environment === "production" &&
      former < window &&
      !keep.has(artifact)
    ) {
      stay.add(deployment);
      former++;
    } else if (servesAsPreview(deployment)) stay.add(deployment);
    if (stay.has(deployment)) keep.add(artifact);
  }
  // Files of former service versions are kept too, without taking a release's place in the window.
  return new Set([...keep, ...[...stay].flatMap(artifactsOf)]);
}

/** The deployment that this one rolls back to, or that a pending decision may restore. */
function wayBackOf(all: readonly Deployment[], deployment: Deployment): Deployment | undefined {
  const { decision, replaces, rollbackOf } = deployment;
  const wanted = decision === "pending" ? replaces : isRunning(deployment) ? rollbackOf : null;
  return wanted === null ? undefined : all.find(({ id }) => id === wanted);
}

import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { isRunning } from "../../../domain/deployments/transitions.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { Deployments } from "../../../ports/deployments/deployments.ts";
import type { KeptSources } from "../../../ports/projects/kept_sources.ts";
import type { Projects } from "../../../ports/projects/projects.ts";
import type { ReleaseFolders } from "../../../ports/deployments/release_folders.ts";
import { startsFrom } from "./drop_artifact.ts";

export interface CleanSourcesPorts {
  readonly deployments: Deployments;
  readonly keptSources: KeptSources;
  readonly releaseFolders: ReleaseFolders;
}

/**
 * Removes the kept sources of a project that nothing can be built from again: those without a release folder, except as
 * listed by `neededSources`, such as the newest deployments that did not become a release.
 */
export function cleanSources({ deployments, keptSources, releaseFolders }: CleanSourcesPorts, defaultWindow: number) {
  return async function ({ id: projectId, settings }: Pick<Project, "id" | "settings">): Promise<void> {
    const stored = new Set(await Array.fromAsync(keptSources.list()));
    if (stored.size === 0) return;
    const ofProject = (await deployments.ofProject(projectId)).filter(
      ({ id, source }) => stored.has(id) || source.kind === "copy",
    );
    const keep = neededSources(ofProject, { stored, window: settings.rollbackWindow ?? defaultWindow });
    for (const { id } of ofProject) {
      if (stored.has(id) && !keep.has(id) && !(await releaseFolders.find(id))) await keptSources.remove(id);
    }
  };
}

export interface SweepSourcesPorts extends CleanSourcesPorts {
  readonly projects: Projects;
}

/** Removes all kept sources that nothing can be built from again, including those of deleted deployments. */
export function sweepSources(ports: SweepSourcesPorts, defaultWindow: number) {
  const { deployments, keptSources, projects, releaseFolders } = ports;
  const clean = cleanSources(ports, defaultWindow);
  return async function (): Promise<void> {
    const seen = new Map<string, Deployment>();
    for await (const id of keptSources.list()) {
      const deployment = await deployments.get(id);
      if (deployment) seen.set(deployment.projectId, deployment);
      else if (!(await releaseFolders.find(id))) await keptSources.remove(id);
    }
    for (const { organizationId, projectId } of seen.values()) {
      const project = await projects.find(organizationId, projectId);
      if (project) await clean(project);
    }
  };
}

/**
 * Removes the kept source of a deleted deployment, after sharing it with the deployments that wait to be built from it.
 */
export async function dropSource(
  { deployments, keptSources, releaseFolders }: CleanSourcesPorts,
  { id, projectId }: Pick<Deployment, "id" | "projectId">,
): Promise<void> {
  if (!(await keptSources.has(id))) return;
  for (const other of await deployments.ofProject(projectId)) {
    if (startsFrom(other) === id && !(await keptSources.has(other.id))) await keptSources.share(id, other.id);
  }
  // If another deployment still uses the release folder, the sweep removes both later.
  if (!(await releaseFolders.find(id))) await keptSources.remove(id);
}

/**
 * Ids of the deployments whose sources stay without a release folder: unfinished or pinned ones, those that others wait
 * to be built from, and the newest without a release within the window.
 */
function neededSources(
  newestFirst: readonly Deployment[],
  { stored, window }: { readonly stored: ReadonlySet<string>; readonly window: number },
): ReadonlySet<string> {
  const needed = new Set<string>();
  let ended = 0;
  for (const deployment of newestFirst) {
    const { decision, id, pinned } = deployment;
    const origin = startsFrom(deployment);
    if (origin !== undefined) needed.add(origin);
    if (isRunning(deployment) || decision === "pending" || pinned) needed.add(id);
    else if (stored.has(id) && endedWithoutRelease(deployment) && ended < window) {
      needed.add(id);
      ended++;
    }
  }
  return needed;
}

/** Whether a deployment ended without becoming a release. */
function endedWithoutRelease({ status }: Deployment): boolean {
  return status === "failed" || status === "cancelled" || status === "rejected";
}

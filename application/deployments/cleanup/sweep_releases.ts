import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { preparedAt } from "../../../domain/deployments/prepared_folder.ts";
import { isRunning, servesAsPreview } from "../../../domain/deployments/transitions.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { Installation } from "../../../ports/identity/installation.ts";
import { previewsOf } from "../../../domain/projects/project.ts";
import type { LiveRelease } from "../../../ports/deployments/live_releases.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import { artifactsOf, needsArtifact, runsPartOf } from "./drop_artifact.ts";
import { dropScope, dropVolumes } from "../../services/drop_volumes.ts";
import { endPreviews, type EndPreviewsPorts } from "./end_previews.ts";
import { stopInstances } from "../../services/stop_instances.ts";
import { isStopped } from "../../services/ensure_services.ts";
import { isInUse } from "../../services/instance_in_use.ts";

const DRAIN_MS = 40_000;
/** Far longer than an inspection takes, so that servers with different clocks do not remove each other's folders. */
const PREPARED_MS = 2 * 3_600_000;

export interface SweepReleasesPorts extends EndPreviewsPorts {
  readonly clock: Clock;
  readonly installation: Installation;
}

/**
 * Ends surplus previews, and removes the instances, volumes and files of deployments that are neither live nor running,
 * as a killed server leaves them.
 */
export function sweepReleases(ports: SweepReleasesPorts, defaultWindow: number) {
  const { clock, deployments, installation, liveReleases, releaseFolders } = ports;
  const end = endPreviews(ports);
  const stop = stopIdle(ports);
  let under: Promise<void> | undefined;
  return function (): Promise<void> {
    under ??= sweep().finally(() => (under = undefined));
    return under;
  };

  async function sweep(): Promise<void> {
    const occupied = await stop();
    const unused = new Map<string, Deployment | undefined>();
    for await (const id of releaseFolders.list()) {
      const preparedSince = preparedAt(id);
      if (preparedSince) {
        if (clock.now().getTime() - preparedSince.getTime() > PREPARED_MS) await releaseFolders.remove(id);
        continue;
      }
      const deployment = await deployments.get(id);
      const kept = deployment && (isRunning(deployment) || deployment.artifactAvailable);
      if (!kept && !occupied.has(id)) unused.set(id, deployment);
    }
    await removeUnshared(unused);
    await endSurplus();
  }

  async function removeUnshared(unused: ReadonlyMap<string, Deployment | undefined>): Promise<void> {
    const isShared = await sharing([...unused.keys()]);
    for (const [id, deployment] of unused) {
      if (isShared(id)) continue;
      if (deployment) await dropVolumes(ports, deployment);
      else if (await installation.usesContainers()) await dropScope(ports, id);
      await releaseFolders.remove(id);
    }
  }

  /** Every deployment ends surplus previews; this covers changed settings, a removed pin, age and closed pull requests. */
  async function endSurplus(): Promise<void> {
    const previews = (await liveReleases.list()).filter(({ deployment }) => servesAsPreview(deployment));
    for (const [projectId, own] of Map.groupBy(previews, ({ project }) => project.id)) {
      const [{ deployment, project }] = own as [LiveRelease];
      if (own.length < 2 && !deployment.pullRequest) continue;
      const window = project.settings.rollbackWindow ?? defaultWindow;
      await end(await deployments.ofProject(projectId), { window, pullRequests: previewsOf(project) });
    }
  }

  /**
   * Tells which of these release folders another deployment uses, will start from, or has taken over instances of. That
   * deployment need not serve, and its project need not serve anything.
   */
  async function sharing(artifacts: readonly string[]): Promise<(artifactOf: string) => boolean> {
    if (artifacts.length === 0) return () => false;
    const others = await deployments.usingFilesOf(artifacts);
    const live = await liveReleases.list();
    return (artifactOf) =>
      others.some((other) => needsArtifact(other, artifactOf)) ||
      live.some(({ deployment }) => runsPartOf(deployment, artifactOf));
  }
}

/**
 * Stops unused instances, and resolves to the ids of the deployments whose release folders the other instances run in.
 */
function stopIdle(ports: SweepReleasesPorts) {
  const { deployments, runtime } = ports;
  const idleSince = new Map<string, number>();
  return async function (): Promise<ReadonlySet<string>> {
    const instances = await runtime.list();
    const occupied = new Set<string>();
    const idle: Instance[] = [];
    for (const instance of instances) {
      const { deploymentId } = instance;
      const deployment = await deployments.get(deploymentId);
      if (await mayGo(instance, deployment)) idle.push(instance);
      else for (const id of deployment ? artifactsOf(deployment) : [deploymentId]) occupied.add(id);
    }
    await stopInstances({ runtime }, idle);
    const there = new Set(instances.map(({ instanceId }) => instanceId));
    for (const instanceId of idleSince.keys()) if (!there.has(instanceId)) idleSince.delete(instanceId);
    return occupied;
  };

  /**
   * Instances that are stopped or belong to a deleted deployment go at once. A former release goes after `DRAIN_MS`,
   * because any process may still be draining its requests.
   */
  async function mayGo(instance: Instance, deployment: Deployment | undefined): Promise<boolean> {
    const { instanceId } = instance;
    if (await isInUse(ports, instance)) {
      idleSince.delete(instanceId);
      return false;
    }
    if (!deployment || isStopped(instance)) return true;
    const since = idleSince.get(instanceId) ?? performance.now();
    idleSince.set(instanceId, since);
    return performance.now() - since > DRAIN_MS;
  }
}

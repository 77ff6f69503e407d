import type { Deployment } from "../../domain/deployment/deployment.ts";
import { isRunning } from "../../domain/deployment/transitions.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { EdgeRoute } from "../../ports/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/live_releases.ts";
import type { Log } from "../../ports/log.ts";
import type { ReleaseFolders } from "../../ports/release_folders.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { needsArtifact } from "./clean_releases.ts";
import { workingFolder } from "./engine/build_release.ts";
import { routesTo, type ServePorts } from "./engine/serve.ts";

const GRACE_MS = 10_000;
const UP_MS = 10_000;
const LOOK_MS = 50;
const DRAIN_MS = 40_000;

export interface RestoreReleasesPorts extends ServePorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly log: Log;
}

/** Makes sure that everything live runs, and gives the routes to it; one that cannot run keeps nobody else from it. */
export function restoreReleases(ports: RestoreReleasesPorts, { baseDomain }: { readonly baseDomain: string }) {
  return async function (): Promise<readonly EdgeRoute[]> {
    const routes: EdgeRoute[] = [];
    const restored = (await ports.liveReleases.list()).map(async (release) => {
      try {
        await ensureRunning(ports, release);
        routes.push(...(await routesTo(ports, release.project, release.deployment, baseDomain)));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const where = { projectId: release.project.id, error: why };
        ports.log.write("error", "A live release could not be started again", where);
      }
    });
    await Promise.all(restored);
    return routes;
  };
}

async function ensureRunning(
  { deployments, releaseFolders, runtime }: RestoreReleasesPorts,
  { deployment, project }: LiveRelease,
): Promise<void> {
  const instanceId = deployment.services[0]?.instanceId;
  if (!instanceId) return;
  if (await runtime.find(instanceId)) return untilUp(runtime, instanceId);
  const folder = await releaseFolders.find(deployment.artifactOf ?? deployment.id);
  if (!folder?.finished) throw new Error("its release folder is gone");
  await runtime.start({
    instanceId,
    deploymentId: deployment.id,
    projectId: project.id,
    service: "app",
    runs: {
      kind: "folder",
      folder: folder.path,
      workingFolder: workingFolder(folder.path, deployment),
      command: deployment.plan.startCommand ?? "",
    },
    environment: await deployments.environment(deployment.id),
  });
  await untilUp(runtime, instanceId);
}

/** Gives a program that is starting again a moment, so that the edge does not open before it. */
async function untilUp(runtime: Runtime, instanceId: string): Promise<void> {
  for (let waited = 0; waited < UP_MS; waited += LOOK_MS) {
    const instance = await runtime.find(instanceId);
    if (!instance || instance.status === "running" || instance.status === "exited") return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export interface SweepReleasesPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly releaseFolders: ReleaseFolders;
  readonly runtime: Runtime;
}

/** Removes what runs or lies around of deployments that are neither live nor being carried out, as a killed server leaves it. */
export function sweepReleases({ deployments, liveReleases, releaseFolders, runtime }: SweepReleasesPorts) {
  const idleSince = new Map<string, number>();
  let under: Promise<void> | undefined;
  return function (): Promise<void> {
    under ??= sweep().finally(() => (under = undefined));
    return under;
  };

  async function sweep(): Promise<void> {
    const instances = await runtime.list();
    for (const { instanceId, deploymentId } of instances) {
      if (await mayGo(instanceId, deploymentId)) await runtime.remove(instanceId, { graceMs: GRACE_MS });
    }
    const there = new Set(instances.map(({ instanceId }) => instanceId));
    for (const instanceId of idleSince.keys()) if (!there.has(instanceId)) idleSince.delete(instanceId);
    for await (const id of releaseFolders.list()) {
      const deployment = await deployments.get(id);
      const kept = deployment && (isRunning(deployment) || deployment.artifactAvailable);
      const used = kept || (await shares(id));
      if (!used && !id.startsWith("prepare-")) await releaseFolders.remove(id);
    }
  }

  /** What a deleted deployment left goes at once; a former release may still finish what it answers, in any process. */
  async function mayGo(instanceId: string, deploymentId: string): Promise<boolean> {
    const deployment = await deployments.get(deploymentId);
    if (!deployment) return true;
    if (await isNeeded(deployment)) {
      idleSince.delete(instanceId);
      return false;
    }
    const since = idleSince.get(instanceId) ?? performance.now();
    idleSince.set(instanceId, since);
    return performance.now() - since > DRAIN_MS;
  }

  async function isNeeded(deployment: Deployment): Promise<boolean> {
    if (isRunning(deployment) || deployment.decision === "pending") return true;
    if (deployment.environment === "preview") return deployment.status === "ready";
    return (await liveReleases.among([deployment.id])).has(deployment.id);
  }

  /** Whether another deployment has the release folder of a deleted one, or will start from it. */
  async function shares(artifactOf: string): Promise<boolean> {
    const projects = new Set((await liveReleases.list()).map(({ project }) => project.id));
    for (const projectId of projects) {
      const all = await deployments.ofProject(projectId);
      if (all.some((deployment) => needsArtifact(deployment, artifactOf))) return true;
    }
    return false;
  }
}

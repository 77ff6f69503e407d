import type { Deployments } from "../../ports/deployments.ts";
import type { EdgeRoute } from "../../ports/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/live_releases.ts";
import type { Log } from "../../ports/log.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { workingFolder } from "./engine/build_release.ts";
import { routesTo, type ServePorts } from "./engine/serve.ts";

const UP_MS = 10_000;
const LOOK_MS = 50;

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

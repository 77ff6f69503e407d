import { isEngineAway } from "../../domain/failure.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { EdgeRoute } from "../../ports/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/live_releases.ts";
import type { Log } from "../../ports/log.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { runnableOf } from "./engine/release_folder.ts";
import { routesAt, routesTo, type ServePorts } from "./engine/serve.ts";

const UP_MS = 10_000;
const LOOK_MS = 50;

export interface RestoreReleasesPorts extends ServePorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
  readonly log: Log;
}

/** What came back, and the deployments that cannot before an engine answers. */
export interface RestoredReleases {
  readonly routes: readonly EdgeRoute[];
  readonly waiting: ReadonlySet<string>;
}

/** Makes sure that everything live, or these deployments of it, runs, and gives the routes to it; one that cannot run keeps nobody else from it. */
export function restoreReleases(ports: RestoreReleasesPorts, { baseDomain }: { readonly baseDomain: string }) {
  return async function (only?: ReadonlySet<string>): Promise<RestoredReleases> {
    const routes: EdgeRoute[] = [];
    const waiting = new Set<string>();
    const releases = (await ports.liveReleases.list()).filter(({ deployment }) => only?.has(deployment.id) ?? true);
    const restored = releases.map(async (release) => {
      try {
        await ensureRunning(ports, release);
        routes.push(...(await routesTo(ports, release.project, release.deployment, baseDomain)));
      } catch (error) {
        if (isEngineAway(error)) {
          waiting.add(release.deployment.id);
          if (!only) routes.push(...(await routesAt(ports, release, { kind: "starting" }, baseDomain)));
        }
        const why = error instanceof Error ? error.message : String(error);
        const where = { projectId: release.project.id, error: why };
        if (!only) ports.log.write("error", "A live release could not be started again", where);
      }
    });
    await Promise.all(restored);
    return { routes, waiting };
  };
}

/** Tries again until all that waits has come back, and hands over its routes. */
export async function restoreLater(
  restore: ReturnType<typeof restoreReleases>,
  waiting: ReadonlySet<string>,
  { everyMs, signal, back }: RestoreLaterOptions,
): Promise<void> {
  let left = waiting;
  while (left.size > 0) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (signal.aborted) return;
    const restored = await restore(left).catch(() => undefined);
    if (restored) {
      for (const [key, routes] of Map.groupBy(restored.routes, ({ projectId }) => projectId)) await back(key, routes);
      left = restored.waiting;
    }
  }
}

export interface RestoreLaterOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly back: (routeKey: string, routes: readonly EdgeRoute[]) => Promise<void>;
}

async function ensureRunning(
  { deployments, releaseFolders, runtime }: RestoreReleasesPorts,
  { deployment, project }: LiveRelease,
): Promise<void> {
  const instanceId = deployment.services[0]?.instanceId;
  if (!instanceId) return;
  if (await runtime.find(instanceId)) return untilUp(runtime, instanceId);
  await runtime.start({
    instanceId,
    deploymentId: deployment.id,
    projectId: project.id,
    service: "app",
    runs: await runnableOf({ releaseFolders }, deployment),
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

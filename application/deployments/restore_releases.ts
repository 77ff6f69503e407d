import type { Deployment } from "../../domain/deployment/deployment.ts";
import { isEngineAway } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { EdgeRoute } from "../../ports/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/live_releases.ts";
import type { Log } from "../../ports/log.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { ensureServices, type EnsureServicesPorts, isStopped, type MayStart } from "./ensure_services.ts";
import { publicServices } from "./engine/public_services.ts";
import { namesReadAhead, routeKey, routesAt, routesTo, type ServePorts } from "./engine/serve.ts";

const UP_MS = 10_000;
const LOOK_MS = 50;

export interface RestoreReleasesPorts extends ServePorts, EnsureServicesPorts {
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
    const projectIds = releases.map(({ project }) => project.id);
    const ahead = { ...ports, domains: await namesReadAhead(ports.domains, projectIds) };
    const restored = releases.map(async (release) => {
      try {
        const failure = await ensured(ports, release.deployment);
        if (failure) complain(release, failure.error);
        routes.push(...(await routesTo(ahead, release.project, release.deployment, baseDomain)));
      } catch (error) {
        if (isEngineAway(error)) {
          waiting.add(release.deployment.id);
          if (!only) routes.push(...(await routesAt(ahead, release, { kind: "starting" }, baseDomain)));
        }
        complain(release, error);
      }
    });
    await Promise.all(restored);
    return { routes, waiting };

    function complain({ project }: LiveRelease, error: unknown): void {
      if (only) return;
      const fields = { projectId: project.id, ...loggedError(error) };
      ports.log.write("error", "A live release could not be started again", fields);
    }
  };
}

/** Has all of a release run that can; resolves to why a part of it does not. While an engine is away nothing is known, and that is thrown. */
async function ensured(
  ports: RestoreReleasesPorts,
  deployment: Deployment,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    const instances = await ensureServices(ports, deployment, mayStart(ports, deployment));
    await Promise.all(instances.map(({ instanceId }) => untilUp(ports.runtime, instanceId)));
    return undefined;
  } catch (error) {
    if (isEngineAway(error)) throw error;
    return { error };
  }
}

/** A service that gave way to its next version is not to come back beside it: whoever carries that out knows. Those that visitors get to never give way. */
function mayStart({ deployments, liveReleases }: RestoreReleasesPorts, deployment: Deployment): MayStart {
  const publicly = publicServices(deployment);
  return async (name) => {
    // Another release may have taken its place since it was looked up, by a server that was quicker.
    if ((await liveReleases.find(routeKey(deployment)))?.deployment.id !== deployment.id) return false;
    if (deployment.environment === "preview" || publicly.has(name)) return true;
    const all = await deployments.ofProject(deployment.projectId);
    return !all.some(({ asked, environment, status }) => {
      return asked !== null || (status === "deploying" && environment === "production");
    });
  };
}

/** Tries again until all that waits has come back, and tells which routes may lead there again. */
export async function restoreLater(
  restore: ReturnType<typeof restoreReleases>,
  waiting: ReadonlySet<string>,
  { everyMs, signal, back }: RestoreLaterOptions,
): Promise<void> {
  let left = waiting;
  while (left.size > 0) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (signal.aborted) return;
    try {
      const restored = await restore(left);
      for (const key of new Set(restored.routes.map(({ projectId }) => projectId))) await back(key);
      left = restored.waiting;
    } catch {
      // What it needs is away again: all of it is tried once more.
    }
  }
}

/** Starts what is live and was taken away from outside, such as a container that somebody removed or stopped, and tells every process. */
export function reviveReleases(ports: RestoreReleasesPorts, restore: ReturnType<typeof restoreReleases>) {
  return async function (): Promise<void> {
    const live = await ports.liveReleases.list();
    // Only then: what was retired meanwhile is live no more, and what was started is there.
    const standing = (await ports.runtime.list()).filter((instance) => !isStopped(instance));
    const there = new Set(standing.map(({ instanceId }) => instanceId));
    const gone = live.filter(({ deployment: { services } }) =>
      services.some(({ instanceId, status }) => instanceId !== null && status !== "done" && !there.has(instanceId)),
    );
    const lost: string[] = [];
    for (const release of gone) if (!(await isBeingChanged(ports, release))) lost.push(release.deployment.id);
    if (lost.length === 0) return;
    const { routes } = await restore(new Set(lost));
    for (const key of new Set(routes.map(({ projectId }) => projectId))) await ports.liveReleases.announce(key);
  };
}

/** Whether somebody may have put it aside for its next version: two of it at once would be in each other's way. */
async function isBeingChanged({ deployments }: RestoreReleasesPorts, { deployment, project }: LiveRelease) {
  if (deployment.asked !== null) return true;
  return (await deployments.ofProject(project.id)).some(({ status }) => status === "deploying");
}

export interface RestoreLaterOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly back: (routeKey: string) => Promise<unknown>;
}

/** Gives a program that is starting again a moment, so that the edge does not open before it. */
async function untilUp(runtime: Runtime, instanceId: string): Promise<void> {
  for (let waited = 0; waited < UP_MS; waited += LOOK_MS) {
    const instance = await runtime.find(instanceId);
    if (!instance || instance.failing || instance.status === "running" || instance.status === "exited") return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

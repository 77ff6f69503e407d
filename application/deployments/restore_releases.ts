import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isEngineAway } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { ensureServices, type EnsureServicesPorts, isStopped, type MayStart } from "../services/ensure_services.ts";
import { publicServices } from "./engine/changeover/public_services.ts";
import { firstRoutesTo, namesReadAhead, type ServePorts } from "./engine/changeover/serve.ts";

const UP_MS = 10_000;
const LOOK_MS = 50;

export interface RestoreReleasesPorts extends ServePorts, EnsureServicesPorts {
  readonly liveReleases: LiveReleases;
  readonly log: Log;
}

/** Which releases are restored, and how. */
export interface RestoreOptions {
  /** The ids of their deployments; all that are live when they are not given. */
  readonly only?: ReadonlySet<string>;
  /** Called with the route key of each release as soon as it is back. */
  readonly back?: (scope: string) => Promise<unknown>;
  /** Ends waiting for what is starting. */
  readonly signal?: AbortSignal;
}

/** The routes to everything live as it stands when a server starts; what is not up yet asks visitors to come again. */
export function currentRoutes(ports: RestoreReleasesPorts, { baseDomain }: { readonly baseDomain: string }) {
  return async function (): Promise<readonly EdgeRoute[]> {
    const releases = await ports.liveReleases.list();
    const projectIds = releases.map(({ project }) => project.id);
    const ahead = { ...ports, domains: await namesReadAhead(ports.domains, projectIds) };
    return (await Promise.all(releases.map((release) => firstRoutesTo(ahead, release, baseDomain)))).flat();
  };
}

/**
 * Makes sure that everything live, or these deployments of it, runs; one that cannot run keeps nobody else from it. Resolves to the
 * deployments that cannot before an engine answers.
 */
export function restoreReleases(ports: RestoreReleasesPorts) {
  return async function ({ only, back, signal }: RestoreOptions = {}): Promise<ReadonlySet<string>> {
    const waiting = new Set<string>();
    const releases = (await ports.liveReleases.list()).filter(({ deployment }) => only?.has(deployment.id) ?? true);
    const restored = releases.map(async (release) => {
      try {
        const failure = await ensured(ports, release.deployment, signal);
        if (failure) complain(release, failure.error);
        await back?.(scopeOf(release.deployment));
      } catch (error) {
        if (isEngineAway(error)) waiting.add(release.deployment.id);
        complain(release, error);
      }
    });
    await Promise.all(restored);
    return waiting;

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
  signal?: AbortSignal,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    const instances = await ensureServices(ports, deployment, mayStart(ports, deployment));
    await Promise.all(instances.map(({ instanceId }) => untilUp(ports.runtime, instanceId, signal)));
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
    if ((await liveReleases.find(scopeOf(deployment)))?.deployment.id !== deployment.id) return false;
    if (deployment.environment === "preview" || publicly.has(name)) return true;
    const all = await deployments.ofProject(deployment.projectId);
    return !all.some(({ asked, environment, status }) => {
      return asked !== null || (status === "deploying" && environment === "production");
    });
  };
}

/** Tries again until all that waits has come back, and tells which routes may lead there again. */
export async function retryRestore(
  restore: ReturnType<typeof restoreReleases>,
  waiting: ReadonlySet<string>,
  { everyMs, signal, back }: RetryRestoreOptions,
): Promise<void> {
  let left = waiting;
  while (left.size > 0) {
    await pause(everyMs);
    if (signal.aborted) return;
    try {
      left = await restore({ only: left, back, signal });
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
    await restore({ only: new Set(lost), back: (key) => ports.liveReleases.announce(key) });
  };
}

/** Whether somebody may have put it aside for its next version: two of it at once would be in each other's way. */
async function isBeingChanged({ deployments }: RestoreReleasesPorts, { deployment, project }: LiveRelease) {
  if (deployment.asked !== null) return true;
  return (await deployments.ofProject(project.id)).some(({ status }) => status === "deploying");
}

export interface RetryRestoreOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly back: (scope: string) => Promise<unknown>;
}

/** Gives a program that is starting again a moment, so that the edge does not open before it. */
async function untilUp(runtime: Runtime, instanceId: string, signal?: AbortSignal): Promise<void> {
  for (let waited = 0; waited < UP_MS; waited += LOOK_MS) {
    if (signal?.aborted) return;
    const instance = await runtime.find(instanceId);
    if (!instance || instance.failing || instance.status === "running" || instance.status === "exited") return;
    await pause(LOOK_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

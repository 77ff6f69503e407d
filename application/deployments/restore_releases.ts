import { adoptedInstance } from "../../domain/deployments/instance_id.ts";
import { scopeOf } from "../../domain/deployments/release_scope.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isEngineAway } from "../../domain/failure.ts";
import { loggedError } from "../../domain/logged_error.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import type { LiveRelease, LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Log } from "../../ports/system/log.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import { ensureServices, type EnsureServicesPorts, isStopped, type MayStart } from "../services/ensure_services.ts";
import { oneShotsOf } from "../services/one_shots_of.ts";
import { publicServices } from "../../domain/services/public_services.ts";
import { firstRoutesTo, namesReadAhead, type ServePorts } from "../services/service_routes.ts";

const UP_MS = 10_000;
const LOOK_MS = 50;

export interface RestoreReleasesPorts extends ServePorts, EnsureServicesPorts {
  readonly liveReleases: LiveReleases;
  readonly log: Log;
}

/** Selects the releases to restore, with callbacks. */
export interface RestoreOptions {
  /** The ids of the deployments to restore; defaults to all live ones. */
  readonly only?: ReadonlySet<string>;
  /** Called with the scope of each release as soon as it is back. */
  readonly back?: (scope: string) => Promise<unknown>;
  /** Ends the wait for starting programs. */
  readonly signal?: AbortSignal;
}

/** Returns the routes to all live releases at server start. A target that is not up yet asks visitors to retry. */
export function currentRoutes(ports: RestoreReleasesPorts, { baseDomain }: { readonly baseDomain: string }) {
  return async function (): Promise<readonly EdgeRoute[]> {
    const releases = await ports.liveReleases.list();
    const projectIds = releases.map(({ project }) => project.id);
    const ahead = { ...ports, domains: await namesReadAhead(ports.domains, projectIds) };
    return (await Promise.all(releases.map((release) => firstRoutesTo(ahead, release, baseDomain)))).flat();
  };
}

/**
 * Ensures that all live releases, or only the given ones, run; one that cannot start does not block the others.
 * Resolves to the deployments that have to wait until an engine answers.
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
      ports.log.write("error", "A live release could not be restarted", fields);
    }
  };
}

/**
 * Starts everything of a release that can run, and resolves to the failure of the rest, if any. Throws while an engine
 * is down, because nothing is known then.
 */
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

/**
 * A service that was removed for its next version must not come back beside it; only the run of that deployment knows.
 * Public services are never removed for that, so they may always start.
 */
function mayStart({ deployments, liveReleases }: RestoreReleasesPorts, deployment: Deployment): MayStart {
  const publicly = publicServices(deployment);
  return async (name) => {
    // A faster server may have replaced the release since it was looked up.
    if ((await liveReleases.find(scopeOf(deployment)))?.deployment.id !== deployment.id) return false;
    if (deployment.environment === "preview" || publicly.has(name)) return true;
    const all = await deployments.ofProject(deployment.projectId);
    return !all.some(({ pendingDecision, environment, status }) => {
      return pendingDecision !== null || (status === "deploying" && environment === "production");
    });
  };
}

/** Retries until every waiting deployment is back, and calls `back` with the scope of each. */
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
      // A dependency is down again: all of them are retried.
    }
  }
}

/**
 * Restarts live releases whose instances were removed or stopped from outside, such as a container, and announces them
 * to every process.
 */
export function reviveReleases(ports: RestoreReleasesPorts, restore: ReturnType<typeof restoreReleases>) {
  return async function (): Promise<void> {
    const live = await ports.liveReleases.list();
    // Listed after the live releases, so that instances just started are seen; restoring skips a release retired
    // meanwhile.
    const standing = (await ports.runtime.list()).filter((instance) => !isStopped(instance));
    const there = new Set([...standing.map(({ instanceId }) => instanceId), ...(await standingAdopted(ports, live))]);
    const lost: string[] = [];
    for (const release of live) {
      if ((await misses(ports, release, there)) && !(await isBeingChanged(ports, release)))
        lost.push(release.deployment.id);
    }
    if (lost.length === 0) return;
    await restore({ only: new Set(lost), back: (key) => ports.liveReleases.announce(key) });
  };
}

/** Whether an instance of a release is not there although it should run; one-shot services have ended by themselves. */
async function misses(
  ports: RestoreReleasesPorts,
  { deployment }: LiveRelease,
  there: ReadonlySet<string>,
): Promise<boolean> {
  const gone = deployment.services.filter(
    ({ instanceId, status }) => instanceId !== null && status !== "done" && !there.has(instanceId),
  );
  if (gone.length === 0) return false;
  const oneShots = await oneShotsOf(ports, deployment);
  return gone.some(({ name }) => !oneShots.has(name));
}

/** The adopted containers of live releases that run, or cannot be looked at now. No list has them. */
async function standingAdopted(
  { runtime }: RestoreReleasesPorts,
  live: readonly LiveRelease[],
): Promise<readonly string[]> {
  const ids = live.flatMap(({ deployment }) => deployment.services.flatMap(({ instanceId }) => instanceId ?? []));
  const looked = ids.filter(adoptedInstance).map(async (instanceId) => {
    const stands = runtime.find(instanceId).then((instance) => instance !== undefined && !isStopped(instance));
    return (await stands.catch(() => true)) ? [instanceId] : [];
  });
  return (await Promise.all(looked)).flat();
}

/** Whether a run may have removed the instance for its next version: two at once would conflict. */
async function isBeingChanged({ deployments }: RestoreReleasesPorts, { deployment, project }: LiveRelease) {
  if (deployment.pendingDecision !== null) return true;
  return (await deployments.ofProject(project.id)).some(({ status }) => status === "deploying");
}

export interface RetryRestoreOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly back: (scope: string) => Promise<unknown>;
}

/** Waits a moment for a starting program, so that the edge does not route to it before it is up. */
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

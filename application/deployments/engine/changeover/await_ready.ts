import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type { ProbeResult } from "../../../../ports/deployments/health_probe.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import { type Run, say } from "../run.ts";
import { healthPath, sentenceName, type Started } from "./started_service.ts";
import { ended, lost, unanswered } from "./why_unready.ts";

/** Often at first, as most programs are quick to listen. */
const LOOK_MS = { first: 5, last: 100 } as const;
const WATCH_MS = 250;
const PROBE_MS = 2_000;
/** What engines do where a health check does not say. */
const CHECK = { intervalMs: 30_000, timeoutMs: 30_000, retries: 3, startPeriodMs: 0 } as const;
const UNWELL: ProbeResult = { isHealthy: false, status: null };

/** Waits until a service answers for the first time, or is done where it ends by itself. */
export async function awaitReady(run: Run, started: Started, signal: AbortSignal): Promise<"healthy" | "done"> {
  const { instanceId, record } = started;
  const limitMs = limitOf(run, record);
  const until = performance.now() + limitMs;
  let answered: number | null = null;
  for (let waitMs: number = LOOK_MS.first; ; waitMs = Math.min(waitMs * 1.2, LOOK_MS.last)) {
    signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    if (record.spec.oneShot && instance?.status === "exited" && instance.exit?.code === 0) return "done";
    await refuseEnded(run, started, instance);
    const isLate = performance.now() > until;
    const asked = instance !== undefined && !record.spec.oneShot;
    const { isHealthy, status } = asked ? await healthOf(run, started, instance, isLate) : UNWELL;
    if (isHealthy) return "healthy";
    answered = status ?? answered;
    if (isLate) throw await unanswered(run, started, { instance, status: answered, limitMs });
    await pause(waitMs);
  }
}

/**
 * Watches a service until it has stayed up for a while. One that visitors get to may not fail in that time; another may still end because something
 * that it needs is not there yet, as long as it then stays up.
 */
export async function stayUp(run: Run, started: Started, signal: AbortSignal): Promise<void> {
  const { instanceId, isPublic, record } = started;
  const { probationMs } = run.settings;
  const limit = performance.now() + Math.max(limitOf(run, record), probationMs);
  let well: { readonly restarts: number; readonly until: number } | undefined;
  for (;;) {
    signal.throwIfAborted();
    // An engine that is busy may take longer to answer than the program lives: what counts is when it was asked.
    const askedAt = performance.now();
    const instance = await run.ports.runtime.find(instanceId);
    await refuseEnded(run, started, instance);
    const { isHealthy, status } = instance ? await healthOf(run, started, instance, true) : UNWELL;
    const isWell = instance !== undefined && isHealthy;
    const isSame = isWell && (well === undefined || instance.restarts === well.restarts);
    if (!isSame && (isPublic || askedAt > limit)) throw lost(run, started, { instance, status });
    if (isSame && well && askedAt >= well.until) return warnOfErrors(run, started, instance);
    if (!isSame) well = undefined;
    if (isWell) well ??= { restarts: instance.restarts, until: performance.now() + probationMs };
    await pause(Math.min(WATCH_MS, Math.max(1, (well?.until ?? Infinity) - performance.now())));
  }
}

/**
 * A health path counts first, then what the image checks itself, then whether its port answers; that is enough too where the image has not checked
 * anything when it is too late to wait, as some do so every few minutes only. What nobody visits is well when it runs.
 */
async function healthOf(run: Run, started: Started, instance: Instance, isLate: boolean): Promise<ProbeResult> {
  const { health, host, port, relayed, status } = instance;
  const path = healthPath(run, started);
  const isUnchecked = health === null || (health === "starting" && isLate);
  if (path === null && !isUnchecked) return { isHealthy: health === "healthy", status: null };
  if (!started.isPublic || port === null) return { isHealthy: status === "running", status: null };
  return run.ports.healthProbe.check({ host, port, path, relayed }, { timeoutMs: PROBE_MS });
}

/** Where no health path is set, a connection is enough to go live: whoever gets nothing but errors has to be told. */
async function warnOfErrors(run: Run, started: Started, { host, port, relayed }: Instance): Promise<void> {
  if (!started.isPublic || port === null || healthPath(run, started) !== null) return;
  const target = { host, port, path: "/", relayed };
  const { status } = await run.ports.healthProbe.check(target, { timeoutMs: PROBE_MS });
  if (status === null || status < 500) return;
  const what = `${sentenceName(started.record)} answers ${status} on /, and went live because its port takes connections`;
  const next = "Look at what it prints (logs?kind=runtime), and set healthPath to keep such a release from going live";
  say(run, "health", `${what}. ${next}`, "warn");
}

/** What ends by itself may take as long as a build; a health check that is slow is waited for. */
function limitOf({ settings }: Run, { spec }: ServiceRecord): number {
  if (spec.oneShot) return settings.buildTimeoutMs;
  const { healthcheck } = spec.container;
  if (healthcheck === null || healthcheck === "none") return settings.healthMs;
  const retries = healthcheck.retries ?? CHECK.retries;
  const eachMs = (healthcheck.intervalMs ?? CHECK.intervalMs) + (healthcheck.timeoutMs ?? CHECK.timeoutMs);
  const neededMs = (healthcheck.startPeriodMs ?? CHECK.startPeriodMs) + eachMs * (retries + 1);
  return Math.min(Math.max(settings.healthMs, neededMs), Math.max(settings.healthMs, settings.buildTimeoutMs));
}

async function refuseEnded(run: Run, started: Started, instance: Instance | undefined): Promise<void> {
  if (!instance || instance.status === "exited" || instance.failing) throw await ended(run, started, instance);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

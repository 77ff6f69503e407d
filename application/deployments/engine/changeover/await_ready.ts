import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type { ProbeResult } from "../../../../ports/deployments/health_probe.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import { type Run, logLine } from "../run.ts";
import { healthPath, sentenceName, type Started } from "./started_service.ts";
import { ended, lost, unanswered } from "./why_unready.ts";

/** A run with the ports of this step. */
type StepRun = Run<"healthProbe" | "instanceSockets" | "runtime">;

/** Polls often at first, because most programs listen quickly. */
const LOOK_MS = { first: 5, last: 100 } as const;
/** How often to look up a program that is probed: a container engine takes longer to answer than the program. */
const FIND_MS = 50;
const WATCH_MS = 250;
const PROBE_MS = 2_000;
/** The engines' defaults for options that a health check does not set. */
const CHECK = { intervalMs: 30_000, timeoutMs: 30_000, retries: 3, startPeriodMs: 0 } as const;
const UNWELL: ProbeResult = { isHealthy: false, status: null };

/** A service that was just started, with its instance at that time. */
type JustStarted = Started & { readonly instance: Instance };

/** Waits until a service is healthy for the first time, or done if it is one-shot. */
export async function awaitReady(run: StepRun, started: JustStarted, signal: AbortSignal): Promise<"healthy" | "done"> {
  const { instanceId, record } = started;
  const limitMs = limitOf(run, record);
  const until = performance.now() + limitMs;
  let answered: number | null = null;
  let last: Instance | undefined = started.instance;
  let foundAt = performance.now();
  for (let waitMs: number = LOOK_MS.first; ; waitMs = Math.min(waitMs * 1.2, LOOK_MS.last)) {
    signal.throwIfAborted();
    const now = performance.now();
    const isLate = now > until;
    const isFresh: boolean = !isLate && now - foundAt < FIND_MS && isProbed(run, started, last);
    const [instance, early]: [Instance | undefined, ProbeResult | undefined] = await Promise.all([
      isFresh ? last : run.ports.runtime.find(instanceId),
      isProbed(run, started, last) ? healthOf(run, started, last, isLate) : undefined,
    ]);
    if (!isFresh) [last, foundAt] = [instance, now];
    if (record.spec.oneShot && instance?.status === "exited" && instance.exit?.code === 0) return "done";
    await refuseEnded(run, started, instance);
    const isChecked = instance !== undefined && !record.spec.oneShot;
    const probed = isProbed(run, started, instance) ? early : undefined;
    const { isHealthy, status } = isChecked ? (probed ?? (await healthOf(run, started, instance, isLate))) : UNWELL;
    if (isHealthy) return "healthy";
    answered = status ?? answered;
    if (isLate) throw await unanswered(run, started, { instance, status: answered, limitMs });
    await pause(waitMs);
  }
}

/**
 * Watches a service until it has stayed up for the probation. A public one must not fail in that time; another may
 * still restart because a dependency is not up yet, as long as it then stays up.
 */
export async function stayUp(run: StepRun, started: Started, signal: AbortSignal): Promise<void> {
  const { instanceId, isPublic, record } = started;
  const { probationMs } = run.settings;
  const limit = performance.now() + Math.max(limitOf(run, record), probationMs);
  let well: { readonly restarts: number; readonly until: number } | undefined;
  for (;;) {
    signal.throwIfAborted();
    // A busy engine may take longer to respond than the program lives: the time of the request counts.
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

/** Whether a probe decides about the health of an instance, and not what the runtime reports. */
function isProbed(run: Run, started: Started, instance: Instance | undefined): instance is Instance {
  if (!instance || !started.isPublic || started.record.spec.oneShot || instance.port === null) return false;
  return healthPath(run, started) !== null || instance.health === null;
}

/**
 * The health path counts first, then the image's own health check, then whether the port accepts connections. The port
 * also decides if the image's check has no result by the deadline, because some run only every few minutes. A service
 * that is not public is healthy while it runs.
 */
async function healthOf(run: StepRun, started: Started, instance: Instance, isLate: boolean): Promise<ProbeResult> {
  const { health, host, port, relayed, status } = instance;
  const path = healthPath(run, started);
  const isUnchecked = health === null || (health === "starting" && isLate);
  if (path === null && !isUnchecked) return { isHealthy: health === "healthy", status: null };
  if (!started.isPublic || port === null) return { isHealthy: status === "running", status: null };
  return run.ports.healthProbe.check({ host, port, path, relayed }, { timeoutMs: PROBE_MS });
}

/** Without a health path an open port is enough to go live, so a release that only returns errors gets a warning. */
async function warnOfErrors(run: StepRun, started: Started, { host, port, relayed }: Instance): Promise<void> {
  if (!started.isPublic || port === null || healthPath(run, started) !== null) return;
  const target = { host, port, path: "/", relayed };
  const { status } = await run.ports.healthProbe.check(target, { timeoutMs: PROBE_MS });
  if (status === null || status < 500) return;
  const what = `${sentenceName(started.record)} answers ${status} on /, and went live because its port accepts connections`;
  const next = "Look at what it prints (logs?kind=runtime), and set healthPath to keep such a release from going live";
  logLine(run, "health", `${what}. ${next}`, "warn");
}

/** A one-shot service may take as long as a build; a slow health check extends the limit. */
function limitOf({ settings }: Run, { spec }: ServiceRecord): number {
  if (spec.oneShot) return settings.buildTimeoutMs;
  const { healthcheck } = spec.container;
  if (healthcheck === null || healthcheck === "none") return settings.healthMs;
  const retries = healthcheck.retries ?? CHECK.retries;
  const eachMs = (healthcheck.intervalMs ?? CHECK.intervalMs) + (healthcheck.timeoutMs ?? CHECK.timeoutMs);
  const neededMs = (healthcheck.startPeriodMs ?? CHECK.startPeriodMs) + eachMs * (retries + 1);
  return Math.min(Math.max(settings.healthMs, neededMs), Math.max(settings.healthMs, settings.buildTimeoutMs));
}

async function refuseEnded(run: StepRun, started: Started, instance: Instance | undefined): Promise<void> {
  if (!instance || instance.status === "exited" || instance.failing) throw await ended(run, started, instance);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

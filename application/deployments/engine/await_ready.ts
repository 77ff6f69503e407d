import { type Failure, invalid } from "../../../domain/failure.ts";
import type { ServiceRecord } from "../../../domain/composition/composition.ts";
import { SOLE_SERVICE } from "../../../domain/composition/sole_service.ts";
import type { Instance, OutputLine } from "../../../ports/runtime.ts";
import { hasServices } from "./records_of.ts";
import type { Run } from "./run.ts";

/** Often at first, as most programs are quick to listen. */
const LOOK_MS = { first: 5, last: 100 } as const;
const WATCH_MS = 250;
const PROBE_MS = 2_000;
const OUTPUT_LINES = 50;
const OUTPUT_PAGES = 100;
/** What engines do where a health check does not say. */
const CHECK = { intervalMs: 30_000, timeoutMs: 30_000, retries: 3, startPeriodMs: 0 } as const;

/** An instance that was started for a service. */
export interface Started {
  readonly record: ServiceRecord;
  readonly instanceId: string;
  /** Whether visitors get to it. */
  readonly isPublic: boolean;
}

/** Waits until a service answers for the first time, or is done where it ends by itself. */
export async function awaitReady(run: Run, started: Started, signal: AbortSignal): Promise<"healthy" | "done"> {
  const { instanceId, record } = started;
  const limitMs = limitOf(run, record);
  const until = performance.now() + limitMs;
  for (let waitMs: number = LOOK_MS.first; ; waitMs = Math.min(waitMs * 1.2, LOOK_MS.last)) {
    signal.throwIfAborted();
    const instance = await run.ports.runtime.find(instanceId);
    if (record.spec.oneShot && instance?.status === "exited" && instance.exit?.code === 0) return "done";
    refuseEnded(record, instance);
    const isLate = performance.now() > until;
    if (!record.spec.oneShot && instance && (await isHealthy(run, started, instance, isLate))) return "healthy";
    if (isLate) throw unanswered(run, started, instance, limitMs);
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
    refuseEnded(record, instance);
    const isWell = instance !== undefined && (await isHealthy(run, started, instance, true));
    const isSame = isWell && (well === undefined || instance.restarts === well.restarts);
    if (!isSame && (isPublic || askedAt > limit)) {
      throw invalid("health_failed", `Cannot keep ${called(record)} live: ${lost(started, instance)}`);
    }
    if (isSame && well && askedAt >= well.until) return;
    if (!isSame) well = undefined;
    if (isWell) well ??= { restarts: instance.restarts, until: performance.now() + probationMs };
    await pause(Math.min(WATCH_MS, Math.max(1, (well?.until ?? Infinity) - performance.now())));
  }
}

/** What became of a service that was well before. */
function lost({ isPublic }: Started, instance: Instance | undefined): string {
  const code = instance?.exit?.code ?? null;
  if (code !== null) return `it ended with code ${code}`;
  return isPublic ? "it answered, and then it did not any more" : "it did not stay up";
}

/** Copies the end of what a service printed into the deployment's log, so that the reason stands where people look. */
export async function showOutput(run: Run, { instanceId, record }: Started): Promise<void> {
  for (const { message, stream } of await lastOutput(run, instanceId).catch(() => [])) {
    await run.writer.line(message, { step: "health", service: record.spec.name, stream, level: "error" });
  }
}

/** What a sentence calls a service that it begins with. */
export function sentenceName({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "It" : spec.name;
}

/** What a sentence calls a service. */
function called({ spec }: ServiceRecord): string {
  return spec.name === SOLE_SERVICE ? "it" : spec.name;
}

/**
 * A health path counts first, then what the image checks itself, then whether its port answers; that is enough too where the image has not checked
 * anything when it is too late to wait, as some do so every few minutes only. What nobody visits is well when it runs.
 */
async function isHealthy(run: Run, started: Started, instance: Instance, isLate: boolean): Promise<boolean> {
  const { health, host, port, relayed, status } = instance;
  const path = healthPath(run, started);
  const isUnchecked = health === null || (health === "starting" && isLate);
  if (path === null && !isUnchecked) return health === "healthy";
  if (!started.isPublic || port === null) return status === "running";
  return run.ports.healthProbe.answers({ host, port, path, relayed }, { timeoutMs: PROBE_MS });
}

/** Of several services, the one that answers at the project's own address is asked. */
function healthPath({ deployment }: Run, { record }: Started): string | null {
  const { healthPath: path, publicEndpoints } = deployment.plan;
  if (!hasServices(deployment)) return path;
  const main = publicEndpoints.find(({ targetPath = "/" }) => targetPath === "/");
  return main?.service === record.spec.name ? path : null;
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

function unanswered(run: Run, started: Started, instance: Instance | undefined, limitMs: number): Failure {
  const { record } = started;
  const { ports, oneShot } = record.spec;
  const path = healthPath(run, started);
  const live = `Cannot bring ${called(record)} live`;
  const within = `within ${Math.round(limitMs / 1000)} seconds`;
  if (oneShot) return invalid("not_done", `Cannot finish ${called(record)}: it did not end ${within}`);
  if (path === null && instance?.health === "unhealthy") {
    const whose = record.spec.container.healthcheck === null ? "the HEALTHCHECK of its image" : "its health check";
    return invalid("health_failed", `${live}: ${whose} did not succeed ${within}`);
  }
  if (!started.isPublic) return invalid("health_failed", `${live}: it was not up and well ${within}`);
  const how = path ?? (record.image === null ? "its port ($PORT)" : `its port (${ports[0]})`);
  const hint = instance?.relayed ? ". In a container a program has to listen on 0.0.0.0, not on 127.0.0.1" : "";
  return invalid("health_failed", `${live}: it did not answer on ${how} ${within}${hint}`);
}

function refuseEnded(record: ServiceRecord, instance: Instance | undefined): void {
  if (instance && instance.status !== "exited" && !instance.failing) return;
  const live = `Cannot bring ${called(record)} live`;
  const code = instance?.exit?.code;
  if (instance?.exit?.reason === "out_of_memory") throw invalid("out_of_memory", `${live}: it ran out of memory`);
  if (instance?.failing) {
    const hint = code === 0 && record.spec.name !== SOLE_SERVICE ? ". If it is meant to end, say oneShot: true" : "";
    throw invalid("crash_loop", `${live}: it ended again and again, last with code ${code}${hint}`);
  }
  const how = instance?.exit ? ` with code ${code}` : "";
  if (record.spec.oneShot) throw invalid("one_shot_failed", `Cannot finish ${called(record)}: it ended${how}`);
  throw invalid("start_failed", `${live}: it ended${how}`);
}

/** A program that ends again and again may have printed any number of lines before the last. */
async function lastOutput({ ports }: Run, instanceId: string): Promise<readonly OutputLine[]> {
  let last: readonly OutputLine[] = [];
  for (let pages = 0; pages < OUTPUT_PAGES; pages++) {
    const page = await ports.runtime.output(instanceId, { since: last.at(-1)?.seq ?? 0, limit: 10_000 });
    if (page.length === 0) break;
    last = [...last, ...page].slice(-OUTPUT_LINES);
  }
  return last;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import { CRASH_LOOP } from "../../../domain/deployments/crash_loop.ts";
import type { Ending } from "../../../domain/deployments/ending.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "../engine/containers.ts";
import { HOST, KEPT_RUNNING, LEFT_ALONE } from "./container_request.ts";
import { LABEL, publishedPorts } from "./labels.ts";

/** Observations beyond a container's record. */
export interface ContainerObservation {
  readonly now: number;
  /** Restarts before the engine's own count began: up to and including the last manual one. */
  readonly restartsBefore: number;
  /** Whether the program listens on the first published port, or publishes none. */
  readonly listens: boolean;
  /** Whether a live server is starting it. */
  readonly beingStarted: boolean;
}

export const STEADY_MS = 10_000;
const LONG_PAUSE_MS = 1_000;
const STARTING_MS = 30_000;
/** The engine's backoff before a restart. */
const PAUSE_MS = { first: 100, last: 60_000 } as const;
/** Exit code of a program that the kernel kills. */
const KILLED = 137;

/**
 * Whether a program is in a crash loop: it has ended five times in a row without staying up. The engine's restart
 * backoff starts at 100 ms, doubles up to a minute, and resets once the program was up for ten seconds. So a container
 * that has waited for more than 800 ms has had its fifth attempt, and no watcher is needed to know. Engine and server
 * share a clock, because the addresses of instances are on this machine.
 */
export function isCrashLoop({ State, RestartCount }: ContainerRecord, now: number): boolean {
  if (State.Status !== "restarting" || RestartCount < CRASH_LOOP) return false;
  return now - endedAt(State) > LONG_PAUSE_MS;
}

/**
 * Returns how long the engine waits at most before it restarts a container, or `null` if it does not wait. An upper
 * bound, because the engine does not report whether the program stayed up in between.
 */
export function pauseBeforeStart({ State, RestartCount }: ContainerRecord): number | null {
  if (State.Status !== "restarting") return null;
  return Math.min(PAUSE_MS.first * 2 ** Math.max(RestartCount - 1, 0), PAUSE_MS.last);
}

function nextStartAt(record: ContainerRecord): Date | null {
  const pauseMs = pauseBeforeStart(record);
  return pauseMs === null ? null : new Date(endedAt(record.State) + pauseMs);
}

/** Whether an earlier version gave up on it because it kept ending, although it should run. */
export function isGivenUp(record: ContainerRecord): boolean {
  const isOwnPolicy = record.Config.Labels[LABEL.asFound] === "true";
  return record.HostConfig.RestartPolicy.Name === LEFT_ALONE && !isOneShot(record) && !isOwnPolicy;
}

/** Whether the engine should run it but could not start it, such as when its port was in use. */
export function isStartDue({ State, HostConfig }: ContainerRecord): boolean {
  return State.Status === "exited" && State.Error !== "" && HostConfig.RestartPolicy.Name === KEPT_RUNNING;
}

/** Whether it has a process to inspect. */
export function isUp({ State }: ContainerRecord): boolean {
  return State.Status === "running" || State.Status === "paused";
}

/** Whether it has been up long enough that it is no longer checked for listening. */
export function isSteady({ State }: ContainerRecord, now: number): boolean {
  return now - timeOf(State.StartedAt) > STEADY_MS;
}

/** Whether it was created but never started. */
export function isNotStarted({ State }: ContainerRecord): boolean {
  return State.Status === "created";
}

/** Whether it is a one-shot, which ends by itself. */
export function isOneShot({ Config }: ContainerRecord): boolean {
  return Config.Labels[LABEL.oneShot] === "true";
}

/** Converts a container's record into an instance. */
export function instanceOf(record: ContainerRecord, observation: ContainerObservation): Instance {
  const { Config, State } = record;
  const label = (name: string) => Config.Labels[name] ?? "";
  const health = State.Health?.Status ?? "none";
  const ports = publishedPorts(record);
  return {
    instanceId: label(LABEL.instance),
    deploymentId: label(LABEL.deployment),
    projectId: label(LABEL.project),
    service: label(LABEL.service),
    status: statusOf(record, observation),
    host: HOST,
    port: ports[0]?.port ?? null,
    ports,
    relayed: true,
    health: health === "none" ? null : health,
    image: record.Image,
    containerId: isUp(record) ? record.Id : null,
    startedAt: new Date(timeOf(State.StartedAt) || timeOf(record.Created)),
    restarts: observation.restartsBefore + record.RestartCount,
    failing: isCrashLoop(record, observation.now),
    nextStartAt: nextStartAt(record),
    exit: exitOf(record, observation),
  };
}

function statusOf(record: ContainerRecord, observation: ContainerObservation): Instance["status"] {
  const { Status } = record.State;
  if (Status === "restarting") return Status;
  if (isUp(record)) return observation.listens || isSteady(record, observation.now) ? "running" : "starting";
  return isBeingStarted(record, observation) ? "starting" : "exited";
}

function exitOf(record: ContainerRecord, observation: ContainerObservation): Instance["exit"] {
  if (isUp(record) || isBeingStarted(record, observation)) return null;
  if (record.State.Status === "created") return { code: null, reason: "stopped" };
  const ownEnd = record.State.Status === "restarting" || isOneShot(record) || isStartDue(record) || isGivenUp(record);
  const ending = endingOf(record);
  return ownEnd || record.State.OOMKilled ? ending : { ...ending, reason: "stopped" };
}

/** Returns how a container's program last ended by itself. The caller passes the exit code if it runs again. */
export function endingOf({ HostConfig, State }: ContainerRecord, code = State.ExitCode): Ending {
  // The engine learns of OOM and of the exit separately, and keeps OOM only if it comes first.
  const isKilledAtLimit = HostConfig.Memory > 0 && code === KILLED;
  return { code, reason: State.OOMKilled || isKilledAtLimit ? "out_of_memory" : "exited" };
}

/** Whether its start is in progress: not if its server died before starting it, or has stalled for 30 s. */
function isBeingStarted(record: ContainerRecord, { now, beingStarted }: ContainerObservation): boolean {
  return isNotStarted(record) && beingStarted && now - timeOf(record.Created) < STARTING_MS;
}

function endedAt({ FinishedAt, StartedAt }: ContainerRecord["State"]): number {
  return Math.max(timeOf(FinishedAt), timeOf(StartedAt));
}

function timeOf(text: string): number {
  // The engine uses year 1 for never.
  return Math.max(0, Date.parse(text));
}

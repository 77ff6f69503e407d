import { CRASH_LOOP } from "../../../domain/deployments/crash_loop.ts";
import type { Ending } from "../../../domain/deployments/ending.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import type { ContainerRecord } from "./container_record.ts";
import { HOST, KEPT_RUNNING, LEFT_ALONE } from "./container_request.ts";
import { LABEL, publishedPorts } from "./labels.ts";

/** What is known beside the record of a container. */
export interface ContainerObservation {
  readonly now: number;
  /** How often it was started again before it was last started by hand. */
  readonly restartsBefore: number;
  /** Whether the program listens on the first port that is published, or has none to listen on. */
  readonly listens: boolean;
  /** Whether a living server is starting it. */
  readonly beingStarted: boolean;
}

export const STEADY_MS = 10_000;
const LONG_PAUSE_MS = 1_000;
const STARTING_MS = 30_000;
/** The pauses of the engine before it starts one again. */
const PAUSE_MS = { first: 100, last: 60_000 } as const;
/** How a program ends that the kernel kills. */
const KILLED = 137;

/**
 * Whether a program has ended five times in a row without having stayed up. The engine waits before it starts one again: 100 ms, and twice as
 * long each time up to a minute, unless it was up for ten seconds. So one that has waited for more than 800 ms has had its fifth chance; nobody needs
 * to have watched. Engine and server share a clock, as the addresses of instances are of this machine.
 */
export function isCrashLoop({ State, RestartCount }: ContainerRecord, now: number): boolean {
  if (State.Status !== "restarting" || RestartCount < CRASH_LOOP) return false;
  return now - endedAt(State) > LONG_PAUSE_MS;
}

/**
 * How long the engine lets one wait before it starts it again, or longer than that: it does not tell whether the program had stayed up in between;
 * `null` when it does not wait.
 */
export function pauseBeforeStart({ State, RestartCount }: ContainerRecord): number | null {
  if (State.Status !== "restarting") return null;
  return Math.min(PAUSE_MS.first * 2 ** Math.max(RestartCount - 1, 0), PAUSE_MS.last);
}

function nextStartAt(record: ContainerRecord): Date | null {
  const pauseMs = pauseBeforeStart(record);
  return pauseMs === null ? null : new Date(endedAt(record.State) + pauseMs);
}

/** Whether an earlier version gave it up because it kept ending: it is to run. */
export function isGivenUp(record: ContainerRecord): boolean {
  return record.HostConfig.RestartPolicy.Name === LEFT_ALONE && !isOneShot(record);
}

/** Whether the engine was to run it and could not start it, as when something else held its port. */
export function isStartDue({ State, HostConfig }: ContainerRecord): boolean {
  return State.Status === "exited" && State.Error !== "" && HostConfig.RestartPolicy.Name === KEPT_RUNNING;
}

/** Whether there is a process to look at. */
export function isUp({ State }: ContainerRecord): boolean {
  return State.Status === "running" || State.Status === "paused";
}

/** Whether it was up for so long that nobody asks any more whether it listens. */
export function isSteady({ State }: ContainerRecord, now: number): boolean {
  return now - timeOf(State.StartedAt) > STEADY_MS;
}

/** Whether it was made and never started. */
export function isNotStarted({ State }: ContainerRecord): boolean {
  return State.Status === "created";
}

/** Whether it ends by itself. */
export function isOneShot({ Config }: ContainerRecord): boolean {
  return Config.Labels[LABEL.oneShot] === "true";
}

/** How an instance stands, for others. */
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

/** How the program of a container ended last, by itself; of one that runs again, the exit code has to be given. */
export function endingOf({ HostConfig, State }: ContainerRecord, code = State.ExitCode): Ending {
  // The engine learns that memory ran out beside learning of the end, and keeps it only where it comes first.
  const isKilledAtLimit = HostConfig.Memory > 0 && code === KILLED;
  return { code, reason: State.OOMKilled || isKilledAtLimit ? "out_of_memory" : "exited" };
}

/** One that its server made and did not live to start, or stands still in the middle of, stays as it is. */
function isBeingStarted(record: ContainerRecord, { now, beingStarted }: ContainerObservation): boolean {
  return isNotStarted(record) && beingStarted && now - timeOf(record.Created) < STARTING_MS;
}

function endedAt({ FinishedAt, StartedAt }: ContainerRecord["State"]): number {
  return Math.max(timeOf(FinishedAt), timeOf(StartedAt));
}

function timeOf(text: string): number {
  // The engine says "year 1" for never.
  return Math.max(0, Date.parse(text));
}

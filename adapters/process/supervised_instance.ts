import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Secret } from "../../domain/secret.ts";
import type { Ending } from "../../domain/deployments/ending.ts";
import type { Instance } from "../../ports/services/runtime.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Confinement } from "./choose_sandbox.ts";
import { endTree, killTree, type Tree } from "./end_tree.ts";
import type { InstanceFolder, InstanceRecord, InstanceState } from "./instance_folder.ts";
import { launch } from "./launch.ts";
import { listeningPorts } from "./listening_ports.ts";
import { type ProcessEntry, processTable, treeOf } from "./process_table.ts";
import { afterEnding, isCrashLoop, STEADY_MS } from "./restart_policy.ts";

/** Dependencies of supervised instances. */
export interface SupervisionPorts {
  readonly vault: Vault;
  readonly confinement: () => Promise<Confinement>;
  /** Called when a program that this process started has exited. */
  readonly onExit: () => void;
}

const HOST = "127.0.0.1";
const FIRST_MOMENT_MS = 1_000;

/** The place that the encrypted environment of an instance is bound to. */
export function environmentPlace(instanceId: string) {
  return { table: "instances", row: instanceId, field: "environment" };
}

/** Starts the program of an instance and records it. The caller must hold the instance's lock. */
export async function startInstance(
  folder: InstanceFolder,
  state: InstanceState,
  ports: SupervisionPorts,
): Promise<void> {
  const record = folder.record()!;
  const sealed = await ports.vault.open(record.environment, environmentPlace(record.instanceId));
  const entries = JSON.parse(sealed.reveal()) as [string, string][];
  const environment = new Map(entries.map(([name, value]) => [name, new Secret(value)]));
  const confinement = await ports.confinement();
  const { depth } = confinement.sandbox;
  // Written before the launch, so that after a server crash right behind it the program is found by its lock.
  await folder.writeState({ ...state, phase: "up", startedAt: Date.now(), depth, exit: null, tooLarge: false });
  const child = await launch(folder, { ...confinement, record, environment, hidden: dirname(dirname(folder.path)) });
  void child.exited.then(ports.onExit);
  // The launcher first writes its pid.
  while (folder.note().pid === undefined && folder.isUp()) await delay(1);
}

/** Stops the program of an instance and its process tree. The caller must hold the instance's lock. */
export async function stopInstance(folder: InstanceFolder, ports: SupervisionPorts, graceMs: number): Promise<void> {
  await endTree(await treeFor(folder, ports), { graceMs });
}

/**
 * Records that the program of an instance has exited, and kills what is left of its process tree. Resolves with its
 * exit and the delay of its restart in milliseconds, or `undefined` for a one-shot. The caller must hold the instance's
 * lock.
 */
export async function noteEnding(
  folder: InstanceFolder,
  state: InstanceState,
  ports: SupervisionPorts,
): Promise<{ readonly exit: Ending; readonly pauseMs: number } | undefined> {
  await killTree(await treeFor(folder, ports));
  const note = folder.note();
  const at = Math.max(note.at, state.startedAt);
  const code = note.code ?? null;
  const reason = state.tooLarge ? "out_of_memory" : "exited";
  const { endings, pauseMs } = afterEnding({ endings: state.endings, upMs: at - state.startedAt, at });
  const exit = { code, reason } as const;
  const ended = { ...state, endings, exit } as const;
  if (folder.record()?.oneShot) {
    await folder.writeState({ ...ended, phase: "ended" });
    return undefined;
  }
  const startAt = Date.now() + pauseMs;
  await folder.writeState({ ...ended, phase: "waiting", startAt, restarts: state.restarts + 1 });
  return { exit, pauseMs };
}

/** Returns whether the processes of an instance exceed its memory limit. */
export function isTooLarge(
  folder: InstanceFolder,
  { memoryBytes }: InstanceRecord,
  table: () => ReadonlyMap<number, ProcessEntry> = processTable,
): boolean {
  const launcher = memoryBytes === null ? undefined : folder.launcher();
  if (launcher === undefined) return false;
  const tree = treeOf(launcher, table());
  const resident = tree.reduce((sum, entry) => sum + entry.memoryBytes, 0);
  // RSS counts shared memory several times, so a sum over the limit is checked against PSS, which is slower to read.
  return resident > memoryBytes! && tree.reduce((sum, entry) => sum + ownMemory(entry), 0) > memoryBytes!;
}

/** Returns the public view of an instance. */
export function describe(record: InstanceRecord, state: InstanceState, folder: InstanceFolder): Instance {
  const { instanceId, deploymentId, projectId, service, port } = record;
  const pid = state.phase === "up" ? folder.launcher() : undefined;
  return {
    instanceId,
    deploymentId,
    projectId,
    service,
    host: HOST,
    port,
    ports: [{ inside: port, port }],
    relayed: false,
    health: null,
    image: null,
    status: pid === undefined ? statusDown(state) : statusUp(record, state),
    containerId: pid === undefined ? null : `${pid}`,
    startedAt: new Date(state.startedAt),
    restarts: state.restarts,
    failing: state.phase === "waiting" && isCrashLoop(state.endings),
    nextStartAt: state.phase === "waiting" ? new Date(state.startAt) : null,
    exit: state.exit,
  };
}

/** "running" means that it listens on its port or has stayed up: not every program has a port. */
function statusUp({ port }: InstanceRecord, { startedAt }: InstanceState): Instance["status"] {
  return Date.now() - startedAt > STEADY_MS || listeningPorts(startedAt).has(port) ? "running" : "starting";
}

function statusDown({ phase, startedAt }: InstanceState): Instance["status"] {
  if (phase === "ended" || phase === "stopping") return "exited";
  return phase === "up" && Date.now() - startedAt < FIRST_MOMENT_MS ? "starting" : "restarting";
}

async function treeFor(folder: InstanceFolder, ports: SupervisionPorts): Promise<Tree> {
  const { sandbox, user } = await ports.confinement();
  const depth = folder.state()?.depth ?? sandbox.depth;
  const strayHome = sandbox.endsWhole ? undefined : `${folder.path}/home`;
  return { isUp: () => folder.isUp(), launcher: () => folder.launcher(), launcherNotes: true, depth, strayHome, user };
}

function ownMemory({ pid, memoryBytes }: { readonly pid: number; readonly memoryBytes: number }): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
    return kilobytes === undefined ? memoryBytes : Number(kilobytes) * 1024;
  } catch {
    return memoryBytes;
  }
}

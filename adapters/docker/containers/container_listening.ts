import type { Instance } from "../../../ports/services/runtime.ts";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { cacheDurationMs } from "../../shared/cache_duration.ts";
import { type TcpListener, tcpListeners } from "../../shared/tcp_table.ts";
import type { ContainerRecord } from "../engine/containers.ts";
import { HOST } from "./container_request.ts";
import { publishedPorts } from "./labels.ts";

/** Addresses that only the container itself can reach. */
const LOOPBACK = /^127\.|^::1$/;
/** Where the engine's DNS server listens inside every network with names. */
const NAME_SERVER = "127.0.0.11";
const REFUSED_WITHIN_MS = 200;
/** On the way to another machine, a refusal takes longer. */
const DISTANT_REFUSED_WITHIN_MS = 1_000;

/** Returns the port of this machine that leads to a port that is published on the engine's machine. */
export type ReachPort = (port: number) => Promise<number>;

/** Replaces the ports of an instance on another machine by those of this machine that lead there. */
export async function reachableFrom(reach: ReachPort | undefined, instance: Instance): Promise<Instance> {
  if (!reach) return instance;
  const led = instance.ports.map(async ({ inside, port }) => ({ inside, port: await reach(port) }));
  const ports = await Promise.all(led);
  return { ...instance, ports, port: ports[0]?.port ?? null };
}

interface Look {
  /** When the inspected program was started. */
  readonly startedAt: string;
  readonly listens: Promise<boolean>;
  goodUntil: number;
}

/** Checks whether containers listen; caches each result in proportion to its cost. */
export class ContainerListening {
  readonly #looks = new Map<string, Look>();
  readonly #reach: ReachPort | undefined;

  /** `reach` is for an engine on another machine. */
  constructor(reach?: ReachPort) {
    this.#reach = reach;
  }

  async listens(record: ContainerRecord): Promise<boolean> {
    const now = performance.now();
    for (const [id, { goodUntil }] of this.#looks) if (goodUntil < now) this.#looks.delete(id);
    const { StartedAt: startedAt } = record.State;
    const known = this.#looks.get(record.Id);
    if (known?.startedAt === startedAt) return known.listens;
    const look: Look = { startedAt, listens: containerListens(record, { reach: this.#reach }), goodUntil: Infinity };
    this.#looks.set(record.Id, look);
    try {
      return await look.listens;
    } finally {
      const end = performance.now();
      look.goodUntil = end + cacheDurationMs(end - now);
    }
  }
}

/**
 * Returns whether the program in a container listens on its first published port; `true` if it publishes none. The
 * engine itself accepts connections from the start, so this inspects the container's network namespace, or, if its
 * processes are not visible, checks whether a connection stays open.
 */
export async function containerListens(
  record: ContainerRecord,
  { proc = "/proc", reach }: { readonly proc?: string; readonly reach?: ReachPort | undefined } = {},
): Promise<boolean> {
  const [first] = publishedPorts(record);
  if (!first) return true;
  if (reach) return keepsConnection(await reach(first.port), DISTANT_REFUSED_WITHIN_MS);
  const listeners = await listenersInside(record, proc);
  if (!listeners) return keepsConnection(first.port);
  return listeners.some(({ address, port }) => port === first.inside && !LOOPBACK.test(address));
}

/**
 * Returns the listening sockets of a container's programs; `undefined` if its network namespace is not visible here.
 */
export async function listenersInside(
  { Id, State }: Pick<ContainerRecord, "Id" | "State">,
  proc: string,
): Promise<readonly TcpListener[] | undefined> {
  const files = ["cgroup", "net/tcp", "net/tcp6"].map((name) =>
    readFile(`${proc}/${State.Pid}/${name}`, "latin1").catch(() => ""),
  );
  const [groups, ...tables] = await Promise.all(files);
  // Seen from within a container, the same PID is another process.
  if (!groups!.includes(Id)) return undefined;
  return tables.flatMap(tcpListeners).filter(({ address }) => address !== NAME_SERVER);
}

function keepsConnection(port: number, refusedWithinMs = REFUSED_WITHIN_MS): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const socket = connect({ host: HOST, port, timeout: 5 * refusedWithinMs });
    const settle = (kept: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(kept);
    };
    socket.once("connect", () => (timer = setTimeout(() => settle(true), refusedWithinMs)));
    socket.once("data", () => settle(true));
    for (const event of ["timeout", "end", "close", "error"]) socket.once(event, () => settle(false));
  });
}

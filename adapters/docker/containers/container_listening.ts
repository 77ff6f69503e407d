import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { goodForMs } from "../../shared/costly_look.ts";
import { type TcpListener, tcpListeners } from "../../shared/tcp_table.ts";
import type { ContainerRecord } from "./container_record.ts";
import { HOST } from "./container_request.ts";
import { publishedPorts } from "./labels.ts";

/** Only the container itself reaches what listens there. */
const LOOPBACK = /^127\.|^::1$/;
/** Where the engine's own name server listens inside of every network with names. */
const NAME_SERVER = "127.0.0.11";
const REFUSED_WITHIN_MS = 200;

interface Look {
  /** When the program was started that was looked at. */
  readonly startedAt: string;
  readonly listens: Promise<boolean>;
  goodUntil: number;
}

/** Tells of containers whether they listen, without asking the kernel more often than it is worth. */
export class ContainerListening {
  readonly #looks = new Map<string, Look>();

  async listens(record: ContainerRecord): Promise<boolean> {
    const now = performance.now();
    for (const [id, { goodUntil }] of this.#looks) if (goodUntil < now) this.#looks.delete(id);
    const { StartedAt: startedAt } = record.State;
    const known = this.#looks.get(record.Id);
    if (known?.startedAt === startedAt) return known.listens;
    const look: Look = { startedAt, listens: containerListens(record), goodUntil: Infinity };
    this.#looks.set(record.Id, look);
    try {
      return await look.listens;
    } finally {
      const end = performance.now();
      look.goodUntil = end + goodForMs(end - now);
    }
  }
}

/**
 * Whether the program in a container listens on the first of its ports that are published; one without any has nothing to listen on. The engine itself takes connections from the start, so this looks
 * into the network of the container, or, where its processes cannot be seen, whether a connection is kept.
 */
export async function containerListens(record: ContainerRecord, { proc = "/proc" } = {}): Promise<boolean> {
  const [first] = publishedPorts(record);
  if (!first) return true;
  const listeners = await listenersInside(record, proc);
  if (!listeners) return keepsConnection(first.port);
  return listeners.some(({ address, port }) => port === first.inside && !LOOPBACK.test(address));
}

/** What the programs of a container listen on, if its network is to be seen on this machine. */
export async function listenersInside(
  { Id, State }: Pick<ContainerRecord, "Id" | "State">,
  proc: string,
): Promise<readonly TcpListener[] | undefined> {
  const files = ["cgroup", "net/tcp", "net/tcp6"].map((name) =>
    readFile(`${proc}/${State.Pid}/${name}`, "latin1").catch(() => ""),
  );
  const [groups, ...tables] = await Promise.all(files);
  // Seen from within a container, the same number is another process.
  if (!groups!.includes(Id)) return undefined;
  return tables.flatMap(tcpListeners).filter(({ address }) => address !== NAME_SERVER);
}

function keepsConnection(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const socket = connect({ host: HOST, port, timeout: 5 * REFUSED_WITHIN_MS });
    const settle = (kept: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(kept);
    };
    socket.once("connect", () => (timer = setTimeout(() => settle(true), REFUSED_WITHIN_MS)));
    socket.once("data", () => settle(true));
    for (const event of ["timeout", "end", "close", "error"]) socket.once(event, () => settle(false));
  });
}

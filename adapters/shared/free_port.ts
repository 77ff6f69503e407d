import { readFileSync } from "node:fs";

/** Ports one after the other. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** The loopback ports that each kind of program gets: apart from each other, and below those that Linux hands out by itself unless told otherwise. */
export const PORT_RANGES = {
  database: { first: 20_000, last: 22_999 },
  container: { first: 23_000, last: 26_999 },
  process: { first: 30_000, last: 32_699 },
} as const satisfies Readonly<Record<string, PortRange>>;

const HOST = "127.0.0.1";
const HANDED_OUT = "/proc/sys/net/ipv4/ip_local_port_range";

/** What is known beside what listens. */
export interface FreePortOptions {
  /** Not to be given, whether somebody listens there now or not. */
  readonly taken?: ReadonlySet<number>;
  /** The ports that the system hands out by itself; asked for where it is not told. */
  readonly handedOut?: PortRange | undefined;
}

/**
 * A port of a range that nobody listens on; `undefined` when there is none. Those that the system hands out by itself come last: one of them may be in use
 * for a connection when the program is started again. It begins anywhere, so that several processes that look at once hardly get the same.
 */
export function freePort(
  range: PortRange,
  { taken = new Set(), ...options }: FreePortOptions = {},
): number | undefined {
  const { handedOut } = "handedOut" in options ? options : { handedOut: handedOutPorts() };
  const all = shuffledOnce(range).filter((port) => !taken.has(port));
  const isHandedOut = (port: number) => handedOut !== undefined && port >= handedOut.first && port <= handedOut.last;
  return (
    all.find((port) => !isHandedOut(port) && isFree(port)) ?? all.find((port) => isHandedOut(port) && isFree(port))
  );
}

/** The ports of a range, from a random one on. */
function shuffledOnce({ first, last }: PortRange): readonly number[] {
  const count = last - first + 1;
  const start = Math.floor(Math.random() * count);
  return Array.from({ length: count }, (_, offset) => first + ((start + offset) % count));
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: HOST, port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** What Linux says; elsewhere the ranges here are below it. */
function handedOutPorts(): PortRange | undefined {
  try {
    const [first, last] = readFileSync(HANDED_OUT, "utf8").trim().split(/\s+/).map(Number);
    return first && last ? { first, last } : undefined;
  } catch {
    return undefined;
  }
}

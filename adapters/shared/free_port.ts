import { readFileSync } from "node:fs";

/** A contiguous range of ports, inclusive. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** The loopback port range of each kind of program: disjoint, and below the default ephemeral ports of Linux. */
export const PORT_RANGES = {
  database: { first: 20_000, last: 22_999 },
  container: { first: 23_000, last: 26_999 },
  process: { first: 30_000, last: 32_699 },
} as const satisfies Readonly<Record<string, PortRange>>;

const HOST = "127.0.0.1";
const HANDED_OUT = "/proc/sys/net/ipv4/ip_local_port_range";

/** Options of the search for a free port. */
export interface FreePortOptions {
  /** Ports to exclude, whether anything listens on them or not. */
  readonly taken?: ReadonlySet<number>;
  /** The ephemeral port range of the system. Defaults to the one that Linux reports. */
  readonly handedOut?: PortRange | undefined;
  /** Whether nothing listens on a port. Defaults to trying it on this machine. */
  readonly isFree?: (port: number) => boolean;
}

/**
 * Returns a port of a range that nothing listens on; `undefined` if there is none. Prefers ports outside the ephemeral
 * range, because a connection may occupy an ephemeral one when the program restarts. Starts at a random port, so that
 * concurrent processes rarely get the same one.
 */
export function freePort(
  range: PortRange,
  { taken = new Set(), isFree = isFreeHere, ...options }: FreePortOptions = {},
): number | undefined {
  const { handedOut } = "handedOut" in options ? options : { handedOut: handedOutPorts() };
  const all = shuffledOnce(range).filter((port) => !taken.has(port));
  const isHandedOut = (port: number) => handedOut !== undefined && port >= handedOut.first && port <= handedOut.last;
  return (
    all.find((port) => !isHandedOut(port) && isFree(port)) ?? all.find((port) => isHandedOut(port) && isFree(port))
  );
}

/** The ports of a range, rotated to a random start. */
function shuffledOnce({ first, last }: PortRange): readonly number[] {
  const count = last - first + 1;
  const start = Math.floor(Math.random() * count);
  return Array.from({ length: count }, (_, offset) => first + ((start + offset) % count));
}

function isFreeHere(port: number): boolean {
  try {
    Bun.listen({ hostname: HOST, port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** The ephemeral port range as Linux reports it; on other systems the ranges here lie below it. */
function handedOutPorts(): PortRange | undefined {
  try {
    const [first, last] = readFileSync(HANDED_OUT, "utf8").trim().split(/\s+/).map(Number);
    return first && last ? { first, last } : undefined;
  } catch {
    return undefined;
  }
}

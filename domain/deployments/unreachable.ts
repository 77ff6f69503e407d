/** A TCP socket that a program listens on. */
export interface ListeningSocket {
  readonly address: string;
  readonly port: number;
}

/** The port that a program should listen on. */
export interface ExpectedPort {
  readonly port: number;
  /** How a message refers to the port. */
  readonly name: string;
  /** Whether the program runs in a container; then only sockets beyond the loopback interface are reachable. */
  readonly inContainer: boolean;
}

const ANY = new Set(["0.0.0.0", "::"]);
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1)$/;
const NAMED_PORTS = 3;

/** Returns why these sockets make a program unreachable, as part of a sentence; `undefined` if they do not. */
export function unreachable(sockets: readonly ListeningSocket[], wanted: ExpectedPort): string | undefined {
  const right = sockets.filter(({ port }) => port === wanted.port);
  if (right.length > 0) {
    if (right.some(({ address }) => isReached(address, wanted))) return undefined;
    const addresses = listed([...new Set(right.map(({ address }) => address))]);
    return `it listens on ${addresses} only; make it listen on 0.0.0.0`;
  }
  if (sockets.length === 0) return `it listens on no port, but should listen on ${wanted.name}`;
  const ports = [...new Set(sockets.map(({ port }) => port))].toSorted((a, b) => a - b);
  return `it listens on ${listed(ports.map(String))}, not on ${wanted.name}`;
}

/** Processes are reached at 127.0.0.1, containers from outside. */
function isReached(address: string, { inContainer }: ExpectedPort): boolean {
  if (ANY.has(address)) return true;
  return inContainer ? !LOOPBACK.test(address) : address === "127.0.0.1";
}

function listed(names: readonly string[]): string {
  if (names.length > NAMED_PORTS) return `${names.slice(0, NAMED_PORTS).join(", ")} and others`;
  return [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");
}

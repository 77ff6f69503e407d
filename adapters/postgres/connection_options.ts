import { Socket } from "node:net";

/** What postgres.js tells of where to connect. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false | undefined;
}

const HUNG_UP_MS = 250;

/** What every connection of this service is opened with, to this address; each pool needs options of its own. */
export function connectionOptions(url: string) {
  return {
    connect_timeout: 5,
    // Waiting ever longer before a connection is tried again would keep the service down after the database is back.
    backoff: () => 0,
    max_lifetime: null,
    // It would ask for all array types on every connection; the one in use is told here.
    fetch_types: false,
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      textArray: { to: 1009, from: [1009], parse: (text: string) => text, serialize: arrayText },
    },
    onnotice: () => {},
    socket: socketSource(literalHost(url)),
  };
}

/** The host of an address that names it as `[::1]`; postgres.js takes the colons in it for the one before a port. */
function literalHost(url: string): string | undefined {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: "" };
  return hostname.startsWith("[") ? hostname.slice(1, -1) : undefined;
}

/**
 * Opens sockets as postgres.js does, with one difference: when a peer accepts and hangs up, as a proxy without its
 * database does, postgres.js connects again at once and for ever. Here the next socket then fails.
 */
function socketSource(literal: string | undefined): (target: Target) => Socket {
  let hungUpAt = Number.NEGATIVE_INFINITY;
  let turn = 0;
  return ({ host, port, path }) => {
    const socket = new Socket();
    if (performance.now() - hungUpAt < HUNG_UP_MS) {
      const error = Object.assign(new Error("the database's address hangs up"), { code: "CONNECTION_CLOSED" });
      setTimeout(() => socket.destroy(error), 1);
      return socket;
    }
    let connected = false;
    socket.once("connect", () => {
      connected = true;
      socket.setKeepAlive(true, 10_000);
    });
    socket.once("close", () => {
      if (connected && socket.bytesRead === 0) hungUpAt = performance.now();
    });
    const which = turn++ % host.length;
    if (path) return socket.connect(path);
    const name = literal ?? host[which] ?? "localhost";
    return Object.assign(socket.connect(port[which] ?? 5432, name), { host: name });
  };
}

/** Writes texts as PostgreSQL reads an array. */
function arrayText(items: readonly (string | null)[]): string {
  const quoted = items.map((item) => (item === null ? "null" : `"${item.replaceAll(/["\\]/g, "\\$&")}"`));
  return `{${quoted.join(",")}}`;
}

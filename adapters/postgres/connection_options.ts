import { Socket } from "node:net";

/** The connection target as postgres.js passes it. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false | undefined;
}

const HUNG_UP_MS = 250;

/** Returns the options of every connection to this URL. Each pool needs its own options object. */
export function connectionOptions(url: string) {
  return {
    connect_timeout: 5,
    // No reconnect backoff: growing delays would keep the service down after the database is back.
    backoff: () => 0,
    max_lifetime: null,
    // Fetching types would query all array types on every connection. Only `text[]` is used, and is declared here.
    fetch_types: false,
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      textArray: { to: 1009, from: [1009], parse: (text: string) => text, serialize: arrayText },
    },
    onnotice: () => {},
    socket: socketSource(literalHost(url)),
  };
}

/**
 * Returns the host of a URL with an IPv6 literal like `[::1]`, because postgres.js takes its colons for the port
 * separator.
 */
function literalHost(url: string): string | undefined {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: "" };
  return hostname.startsWith("[") ? hostname.slice(1, -1) : undefined;
}

/**
 * Opens sockets as postgres.js does, with one difference: when a peer accepts and hangs up, as a proxy without its
 * database does, postgres.js reconnects at once and forever. Here the next socket fails instead.
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

/** Formats strings as a PostgreSQL array literal. */
function arrayText(items: readonly (string | null)[]): string {
  const quoted = items.map((item) => (item === null ? "null" : `"${item.replaceAll(/["\\]/g, "\\$&")}"`));
  return `{${quoted.join(",")}}`;
}

import { connect, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";

/** A connection on which a test reads and writes bytes directly. */
export interface RawConnection extends Disposable {
  readonly socket: Socket;
  /** Everything received, one character per byte (latin1). */
  readonly text: string;
  write(text: string | Uint8Array): void;
  /** Resolves to everything received once it satisfies. Rejects if the connection closes before. */
  until(satisfies: RegExp | ((text: string) => boolean)): Promise<string>;
  /** Resolves to everything received once the other side has closed the connection. */
  readonly closed: Promise<string>;
}

/** Opens a connection to a local port. */
export async function rawConnection(port: number, first: string | Uint8Array = ""): Promise<RawConnection> {
  return connected(connect({ port, host: "127.0.0.1" }), "connect", first);
}

/** A TLS connection, and what the server has presented. */
export interface RawTlsConnection extends RawConnection {
  readonly socket: TLSSocket;
  /** The SHA-256 fingerprint of the server's certificate. */
  readonly fingerprint: string;
  /** The common name in the server's certificate. */
  readonly subject: string;
}

/** Opens a TLS connection to a local port, for a server name; trusts any certificate. */
export async function rawTlsConnection(
  port: number,
  servername: string,
  {
    first = "",
    ...options
  }: ConnectionOptions & { readonly first?: string | Uint8Array; readonly localAddress?: string } = {},
): Promise<RawTlsConnection> {
  const socket = connectTls({ port, host: "127.0.0.1", servername, rejectUnauthorized: false, ...options });
  const connection = await connected(socket, "secureConnect", first);
  const { fingerprint256: fingerprint, subject } = socket.getPeerCertificate();
  return Object.defineProperties(connection, {
    fingerprint: { value: fingerprint },
    subject: { value: subject.CN },
  }) as RawTlsConnection;
}

async function connected(
  socket: Socket,
  event: "connect" | "secureConnect",
  first: string | Uint8Array,
): Promise<RawConnection> {
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  let text = "";
  let wake = Promise.withResolvers<void>();
  let over = false;
  socket.on(event, () => opened.resolve());
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    wake.resolve();
  });
  socket.on("error", (error) => opened.reject(error));
  socket.on("close", () => {
    over = true;
    opened.reject(new Error("the connection was closed before it was open"));
    closed.resolve(text);
    wake.resolve();
  });
  await opened.promise;
  const connection: RawConnection = {
    socket,
    get text() {
      return text;
    },
    write: (more) => void socket.write(typeof more === "string" ? Buffer.from(more, "latin1") : more),
    async until(satisfies) {
      const enough = () => (satisfies instanceof RegExp ? satisfies.test(text) : satisfies(text));
      while (!enough()) {
        if (over) throw new Error(`the connection was closed after ${JSON.stringify(text.slice(0, 500))}`);
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
      return text;
    },
    closed: closed.promise,
    [Symbol.dispose]: () => void socket.destroy(),
  };
  connection.write(first);
  return connection;
}

/** An app that responds with exactly the given bytes. */
export interface RawApp extends Disposable {
  readonly port: number;
  /** Everything received on each connection, one character per byte (latin1). */
  readonly received: string[];
  readonly connections: number;
}

/**
 * Decides on the bytes received on a connection: returns bytes to respond with, "close", "reset", or undefined to wait
 * for more.
 */
export type RawAnswer = (received: string, connection: number) => string | Uint8Array | "close" | "reset" | undefined;

/** Listens on a free port. Calls `answer` whenever bytes arrive and discards the bytes that it has answered. */
export function rawApp(answer: RawAnswer): RawApp {
  const received: string[] = [];
  let connections = 0;
  const listener = Bun.listen<{ readonly at: number; open: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { at: connections++, open: "" };
        received.push("");
      },
      data(socket, bytes) {
        const { data } = socket;
        received[data.at] += bytes.toString("latin1");
        data.open += bytes.toString("latin1");
        const reply = answer(data.open, data.at);
        if (reply === undefined) return;
        data.open = "";
        if (reply === "close") socket.end();
        else if (reply === "reset") socket.terminate();
        else socket.write(typeof reply === "string" ? Buffer.from(reply, "latin1") : reply);
      },
      error() {},
    },
  });
  return {
    port: listener.port,
    received,
    get connections() {
      return connections;
    },
    [Symbol.dispose]: () => listener.stop(true),
  };
}

import { connect, createServer, type Server, type Socket } from "node:net";
import { testPort } from "../servers/test_port.ts";

/** A TCP proxy that tests can shut and freeze. */
export interface TcpGate extends AsyncDisposable {
  readonly port: number;
  /** Gets the bytes that clients send, before they are forwarded. */
  watch: ((bytes: Buffer, client: Socket) => void) | undefined;
  /** Gets the bytes that are sent to a client, before they are forwarded. */
  watchAnswers: ((bytes: Buffer, client: Socket) => void) | undefined;
  /** Breaks every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Accepts connections again. */
  open(): Promise<void>;
  /** Blocks all traffic in both directions without closing connections. */
  freeze(): void;
  thaw(): void;
}

/** Listens on its own port and forwards all traffic to a local port, which it looks up for each connection. */
export async function tcpGate(target: number | (() => number)): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let server: Server | undefined;
  // Reserved also while the gate is shut.
  const held = testPort();
  const { port } = held;

  function passOn(client: Socket): void {
    const upstream = connect(typeof target === "number" ? target : target(), "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes: Buffer) => {
        if (from === client) gate.watch?.(bytes, client);
        else gate.watchAnswers?.(bytes, client);
        to.write(bytes);
      });
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      if (frozen) from.pause();
    }
  }

  const gate: TcpGate = {
    port,
    watch: undefined,
    watchAnswers: undefined,
    async open() {
      server = createServer(passOn);
      const listening = Promise.withResolvers<void>();
      server.once("error", listening.reject);
      server.listen(port, "127.0.0.1", () => listening.resolve());
      await listening.promise;
    },
    async shut() {
      const closed = Promise.withResolvers<void>();
      server?.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server?.close();
      held[Symbol.dispose]();
    },
  };
  await gate.open();
  return gate;
}

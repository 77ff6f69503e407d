import { connect, createServer, type Socket } from "node:net";
import { DOCKER_HOST } from "../peers/docker_world.ts";

/** A TCP proxy in front of the tests' container engine that can be cut. */
export interface EngineGate extends Disposable {
  readonly host: string;
  /** Breaks every connection and refuses new ones. */
  cut(): void;
}

/** Listens on its own port and forwards all traffic to the engine. */
export async function engineGate(): Promise<EngineGate> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const engine = connect(DOCKER_HOST.replace("unix://", ""));
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { host: `tcp://127.0.0.1:${(server.address() as { port: number }).port}`, cut, [Symbol.dispose]: cut };
}

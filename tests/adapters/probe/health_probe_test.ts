import { afterAll } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { MemoryHealthProbe, type ProbedBehaviour } from "../../../adapters/memory/health_probe.ts";
import { NetworkHealthProbe } from "../../../adapters/probe/health_probe.ts";
import { healthProbeContract } from "../../contracts/health_probe.ts";

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

const inMemory = new MemoryHealthProbe();
let lastPort = 0;

healthProbeContract("memory", {
  probe: inMemory,
  program: async (behaviour) => {
    inMemory.programs.set(++lastPort, behaviour);
    return lastPort;
  },
});

healthProbeContract("network", { probe: new NetworkHealthProbe(), program });

async function program(behaviour: ProbedBehaviour): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    if (behaviour === "hanging_up") socket.end();
    else if (behaviour === "talking") socket.write("220 ready\r\n");
    else socket.on("data", () => behaviour !== "silent" && socket.end(answer(behaviour)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  if (behaviour === "absent") await new Promise((resolve) => server.close(resolve));
  else servers.push(server);
  return port;
}

function answer(behaviour: ProbedBehaviour): string {
  return `HTTP/1.1 ${behaviour} Status\r\nLocation: /elsewhere\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`;
}

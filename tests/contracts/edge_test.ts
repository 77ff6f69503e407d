import { MemoryEdge } from "../../adapters/memory/edge.ts";
import { at, runningEdge } from "../support/running_edge.ts";
import { edgeContract } from "./edge.ts";

edgeContract("memory", async () => {
  const edge = new MemoryEdge();
  return {
    edge,
    target: () => ({ kind: "address", host: "127.0.0.1", port: 1 }),
    ask: async (host, path) => edge.routeOf(host, path.split("?")[0] ?? "")?.servedBy,
    async begin(host, path) {
      const end = edge.begin(edge.routeOf(host, path)?.servedBy ?? "");
      return async () => end();
    },
    async [Symbol.asyncDispose]() {},
  };
});

edgeContract("HTTP/1.1 proxy", async () => {
  const running = runningEdge();
  const apps = new Map<string, ReturnType<typeof heldApp>>();
  const appOf = (servedBy: string) => {
    const app = apps.get(servedBy) ?? heldApp(servedBy);
    apps.set(servedBy, app);
    return app;
  };
  return {
    edge: running.edge,
    target: (servedBy) => at(appOf(servedBy).port),
    async ask(host, path) {
      const answer = await running.ask(host, path);
      const text = await answer.text();
      return answer.status === 200 ? text : undefined;
    },
    async begin(host, path) {
      const key = crypto.randomUUID();
      const answer = running.ask(host, path, { headers: { "x-hold": key } });
      const release = await Promise.race([...apps.values()].map((app) => app.arrived(key)));
      return async () => {
        release();
        await (await answer).text();
      };
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      for (const app of apps.values()) await app.stop();
    },
  };
});

/** Answers with its name; a request with `X-Hold` only once it is released. */
function heldApp(name: string) {
  const holds = new Map<string, PromiseWithResolvers<() => void>>();
  const arrived = (key: string) => {
    const hold = holds.get(key) ?? Promise.withResolvers<() => void>();
    holds.set(key, hold);
    return hold;
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const key = request.headers.get("x-hold");
      if (key) await new Promise<void>((release) => arrived(key).resolve(release));
      return new Response(name);
    },
  });
  return { port: server.port, arrived: (key: string) => arrived(key).promise, stop: () => server.stop(true) };
}

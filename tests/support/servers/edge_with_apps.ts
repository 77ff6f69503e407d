import type { EdgeForContract } from "../../contracts/edge.ts";
import type { Edge } from "../../../ports/domains/edge.ts";
import { rawTlsConnection } from "./raw_http.ts";
import { at, type RunningEdge } from "./running_edge.ts";

/** A running edge with upstream apps, for the edge contract. */
export function edgeWithApps(
  running: Pick<RunningEdge, "ask"> & AsyncDisposable & { readonly edge: Edge & { readonly tlsPort: number } },
): EdgeForContract {
  const { edge, ask: request } = running;
  const apps = new Map<string, ReturnType<typeof heldApp>>();
  const appOf = (name: string) => {
    const app = apps.get(name) ?? heldApp(name);
    apps.set(name, app);
    return app;
  };
  return {
    edge,
    target: (name) => at(appOf(name).port),
    async ask(host, path) {
      const answer = await request(host, path);
      const text = await answer.text();
      return answer.status === 200 ? text : undefined;
    },
    async presented(serverName) {
      using client = await rawTlsConnection(edge.tlsPort, serverName);
      return client.subject === "slipway.invalid" ? undefined : client.fingerprint;
    },
    async begin(host, path) {
      const key = crypto.randomUUID();
      const answer = request(host, path, { headers: { "x-hold": key } });
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
}

/** An app that responds with its name, to a request with `X-Hold` only once it is released. */
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

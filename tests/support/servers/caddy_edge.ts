import { CaddyEdge, type CaddyEdgeOptions } from "../../../adapters/edge/caddy/caddy_edge.ts";
import type { CaddyConfig } from "../../../adapters/edge/caddy/caddy_config.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import { Caddy } from "../peers/caddy.ts";
import { askerOf, type RunningEdge } from "./running_edge.ts";
import { testPort } from "./test_port.ts";

/** How a test lets Caddy be configured, and the edge that uses it. */
export interface CaddyEdgeSettings extends Omit<CaddyEdgeOptions, "admin"> {
  /** What the operator has configured. */
  readonly config?: CaddyConfig;
}

/** An edge that serves through a Caddy of its own. Disposal stops both. */
export interface RunningCaddyEdge extends AsyncDisposable {
  readonly edge: CaddyEdge;
  readonly caddy: Caddy;
  readonly ports: { readonly port: number; readonly tlsPort: number };
  readonly ask: RunningEdge["ask"];
  /** Replaces all routes of the project `prj_<host>`. */
  put(host: string, target: EdgeRoute["target"], servedBy?: string): Promise<void>;
  /** Another edge with the same Caddy, as the next server would have. */
  another(): Promise<CaddyEdge>;
}

/** Starts an edge without routes. */
export async function caddyEdge({ config, ...settings }: CaddyEdgeSettings = {}): Promise<RunningCaddyEdge> {
  await using opened = new AsyncDisposableStack();
  const caddy = opened.use(await Caddy.start(config));
  const ports = { port: opened.use(testPort()).port, tlsPort: opened.use(testPort()).port };
  const lifetime = opened.move();
  const another = async () => {
    const edge = lifetime.use(new CaddyEdge({ admin: caddy.adminAddress, ...settings }));
    await edge.listen({ host: "127.0.0.1", ...ports });
    return edge;
  };
  try {
    const edge = await another();
    await edge.load([]);
    return {
      edge,
      caddy,
      ports,
      ask: askerOf(edge),
      put: (host, target, servedBy = `dep_${host}`) =>
        edge.switch(`prj_${host}`, [{ hostname: host, pathPrefix: "/", projectId: `prj_${host}`, servedBy, target }]),
      another,
      [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
    };
  } catch (error) {
    await lifetime.disposeAsync();
    throw error;
  }
}

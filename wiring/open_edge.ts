import { join } from "node:path";
import { CaddyEdge } from "../adapters/edge/caddy/caddy_edge.ts";
import { EdgeServer } from "../adapters/edge/edge_server.ts";
import { SeparateEdge } from "../adapters/edge/separate/separate_edge.ts";
import type { Config } from "../config.ts";
import type { Log } from "../ports/system/log.ts";

/** Creates the edge: in this process, in one that outlives it, or in a Caddy that the operator runs. */
export function openEdge(config: Config, log: Log): EdgeServer | SeparateEdge | CaddyEdge {
  const { trustedProxies, edgeHttpsRedirect: httpsRedirect, edgeHstsSeconds: hstsSeconds } = config;
  const options = { trustedProxies, httpsRedirect, hstsSeconds, log };
  if (config.edge === "inside") return new EdgeServer(options);
  if (config.edge === "caddy") return new CaddyEdge({ ...options, admin: config.caddyAdmin });
  return new SeparateEdge({
    ...options,
    workers: config.edgeWorkers,
    folder: join(config.dataFolder, "edge"),
    command: [process.execPath, join(import.meta.dir, "edge_process.ts")],
  });
}

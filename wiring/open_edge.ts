import { join } from "node:path";
import { EdgeServer } from "../adapters/edge/edge_server.ts";
import { SeparateEdge } from "../adapters/edge/separate/separate_edge.ts";
import type { Config } from "../config.ts";
import type { Log } from "../ports/system/log.ts";

/** Creates the edge: in this process, or in one that outlives it. */
export function openEdge(config: Config, log: Log): EdgeServer | SeparateEdge {
  const { trustedProxies, edgeHttpsRedirect: httpsRedirect, edgeHstsSeconds: hstsSeconds } = config;
  const options = { trustedProxies, httpsRedirect, hstsSeconds, log };
  if (config.edge === "inside") return new EdgeServer(options);
  return new SeparateEdge({
    ...options,
    workers: config.edgeWorkers,
    folder: join(config.dataFolder, "edge"),
    command: [process.execPath, join(import.meta.dir, "edge_process.ts")],
  });
}

import type { Principal } from "../../domain/identity/permission.ts";
import type { Stack } from "../../domain/migration/stack.ts";
import { type InspectOptions, inspectServer, type InspectServerPorts } from "./inspect_server.ts";

/** What runs on a server, and when that was read. */
export interface ScannedServer {
  readonly serverId: string;
  readonly scannedAt: Date;
  readonly stack: Stack;
}

/** Lists the compose projects and containers of a server, compared with the compose files there. Changes nothing. */
export function scanServer(ports: InspectServerPorts) {
  const inspect = inspectServer(ports);
  return async function (by: Principal, serverId: string, options?: InspectOptions): Promise<ScannedServer> {
    const { stack } = await inspect(by, serverId, options);
    return { serverId, scannedAt: ports.clock.now(), stack };
  };
}

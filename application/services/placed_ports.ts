import type { ServerEngine, ServerEngines } from "../../ports/servers/server_engines.ts";

/** Ports of this machine's container engine that servers have too; the runtime finds the server by the instance. */
type EnginePort = Exclude<keyof ServerEngine, "adoptedContainers" | "imageTransfer" | "runtime">;

/**
 * Returns the ports with those of a server's container engine in place of this machine's; unchanged without a server.
 */
export function placedPorts<
  Ports extends Partial<Pick<ServerEngine, EnginePort>> & { readonly serverEngines: ServerEngines },
>(ports: Ports, serverId: string | null | undefined): Ports {
  if (!serverId) return ports;
  const { adoptedContainers: _, imageTransfer: __, runtime: ___, ...engine } = ports.serverEngines.of(serverId);
  return { ...ports, ...engine };
}

import type { RemoteHosts } from "./remote_hosts.ts";
import type { ServerConnections } from "./server_connections.ts";
import type { ServerEngines } from "./server_engines.ts";
import type { ServerOwners } from "./server_owners.ts";
import type { Servers } from "./servers.ts";

/** The server ports that the application depends on. */
export interface ServerPorts {
  readonly remoteHosts: RemoteHosts;
  readonly serverConnections: ServerConnections;
  readonly serverEngines: ServerEngines;
  readonly serverOwners: ServerOwners;
  readonly servers: Servers;
}

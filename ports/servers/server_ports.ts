import type { RemoteHosts } from "./remote_hosts.ts";
import type { Servers } from "./servers.ts";

/** The server ports that the application depends on. */
export interface ServerPorts {
  readonly remoteHosts: RemoteHosts;
  readonly servers: Servers;
}

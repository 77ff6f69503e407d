import type { RemoteHosts } from "./remote_hosts.ts";
import type { Servers } from "./servers.ts";

/** The ports of the folder that the application stands on. */
export interface ServerPorts {
  readonly remoteHosts: RemoteHosts;
  readonly servers: Servers;
}

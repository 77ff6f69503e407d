import type { InstanceSockets } from "./instance_sockets.ts";
import type { Runtime } from "./runtime.ts";
import type { RuntimeLogs } from "./runtime_logs.ts";
import type { ServiceNetworks } from "./service_networks.ts";
import type { Volumes } from "./volumes.ts";

/** The service ports that the application depends on. */
export interface ServicePorts {
  readonly instanceSockets: InstanceSockets;
  readonly runtime: Runtime;
  readonly runtimeLogs: RuntimeLogs;
  readonly serviceNetworks: ServiceNetworks;
  readonly volumes: Volumes;
}

import type { DestinationKind, DestinationSettings } from "../../domain/backups/destination.ts";
import { hostOf } from "../../domain/backups/destination_values.ts";
import { invalidField } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { refusePrivateHost, type RefusePrivateHostPorts } from "../domains/refuse_private_host.ts";
import { checkLocalEndpoint, type CheckLocalEndpointPorts } from "./check_local_endpoint.ts";

export interface CheckSettingsPorts extends RefusePrivateHostPorts, CheckLocalEndpointPorts {
  readonly servers: Servers;
}

/** Refuses settings that are well formed but may not be used here or by this caller. */
export function checkSettings(ports: CheckSettingsPorts) {
  const refusePrivate = refusePrivateHost(ports);
  const checkLocal = checkLocalEndpoint(ports);
  return async function (by: Principal, kind: DestinationKind, settings: DestinationSettings): Promise<void> {
    const { endpoint, sshHost, serverId } = settings;
    if (kind === "local" && endpoint !== null) await checkLocal(endpoint);
    if (kind === "s3_compatible" && endpoint !== null) await refusePrivate("endpoint", hostOf(endpoint));
    if (sshHost !== null) await refusePrivate("sshHost", sshHost);
    if (serverId === null) return;
    if (!(await ports.servers.find(by.organizationId, serverId))) {
      throw invalidField("serverId", "there is no server of this id in your organization");
    }
    demand(by, "server:write", { id: serverId });
  };
}

import { notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import { checkServerAddress, type Server, type ServerChange } from "../../domain/server.ts";
import { refusePrivateHost } from "../network/refuse_private_host.ts";
import { checkServerName, type CreateServerPorts, hostKeyOf } from "./create_server.ts";
import { findServer } from "./find_server.ts";

/** Changes what is given of a server; only an admin replaces a recorded host key, or moves the server, which forgets it. */
export function changeServer(ports: CreateServerPorts) {
  const find = findServer(ports);
  const refusePrivate = refusePrivateHost(ports);
  return async function (by: Principal, id: string, change: ServerChange): Promise<Server> {
    const server = await find(by, id, "server:write");
    if (server.hostKey !== null && losesKey(server, change)) demand(by, "server:admin", { id });
    checkServerAddress(change);
    if (change.sshHost !== undefined) await refusePrivate("sshHost", change.sshHost);
    const changed = await ports.servers.change(by.organizationId, id, {
      at: ports.clock.now(),
      change: {
        ...change,
        ...(change.name !== undefined && { name: checkServerName(change.name) }),
        ...(change.hostKey !== undefined && { hostKey: await hostKeyOf(change.hostKey) }),
      },
    });
    if (!changed) throw notFound("server");
    return changed;
  };
}

function losesKey(
  server: Server,
  { hostKey, sshHost = server.sshHost, sshPort = server.sshPort }: ServerChange,
): boolean {
  return hostKey !== undefined || sshHost !== server.sshHost || sshPort !== server.sshPort;
}

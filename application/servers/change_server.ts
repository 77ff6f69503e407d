import { invalidField, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { checkServerAddress, type Server, type ServerChange } from "../../domain/servers/server.ts";
import { refusePrivateHost } from "../domains/refuse_private_host.ts";
import { checkServerName, type CreateServerPorts, hostKeyOf } from "./create_server.ts";
import { findServer } from "./find_server.ts";

/** Changes fields of a server. Only an admin may replace a pinned host key, or drop it by moving the server. */
export function changeServer(ports: CreateServerPorts) {
  const find = findServer(ports);
  const refusePrivate = refusePrivateHost(ports);
  return async function (by: Principal, id: string, change: ServerChange): Promise<Server> {
    const server = await find(by, id, "server:write");
    if (server.hostKey !== null && losesKey(server, change)) demand(by, "server:admin", { id });
    if (moves(server, change)) refuseOldCredentials(server, change);
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

function moves(server: Server, { sshHost = server.sshHost, sshPort = server.sshPort }: ServerChange): boolean {
  return sshHost !== server.sshHost || sshPort !== server.sshPort;
}

/** A stored secret is never sent to another address than the one it was given for. */
function refuseOldCredentials(server: Server, change: ServerChange): void {
  const kept = [
    ["sshPassword", server.hasSshPassword],
    ["sshPrivateKey", server.hasSshPrivateKey],
    ["sshKeyPassphrase", server.hasSshKeyPassphrase],
  ] as const;
  for (const [field, stored] of kept) {
    if (stored && change[field] === undefined) {
      throw invalidField(field, "give it again, or null to clear it: stored credentials are not sent to a new address");
    }
  }
}

function losesKey(server: Server, change: ServerChange): boolean {
  return change.hostKey !== undefined || moves(server, change);
}

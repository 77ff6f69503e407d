import { conflict, Failure, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Server, ServerCredentials } from "../../domain/servers/server.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { findServer } from "./find_server.ts";

export interface OnServerPorts {
  readonly clock: Clock;
  readonly servers: Servers;
}

/** What work on a server brought, and the host key that the server presented. */
interface Outcome<T> {
  readonly hostKey: string;
  readonly result: T;
}

/**
 * Does work on a server that the caller may write to, which is checked before anything is connected. Records the outcome
 * as the last check of the server, and its host key the first time.
 */
export function workOnServer({ clock, servers }: OnServerPorts) {
  const find = findServer({ servers });
  return async function <T>(
    by: Principal,
    id: string,
    work: (target: RemoteTarget, server: Server) => Promise<Outcome<T>>,
    signal?: AbortSignal,
  ): Promise<Outcome<T> & { readonly server: Server }> {
    const server = await find(by, id, "server:write");
    const credentials = await servers.credentials(by.organizationId, id);
    if (!credentials) throw notFound("server");
    const { sshHost, sshPort } = server;
    const record = (error: string | null, hostKey: string | null) =>
      servers.checked(by.organizationId, id, { sshHost, sshPort, at: clock.now(), error, hostKey });
    try {
      const { hostKey, result } = await work(targetOf(server, credentials), server);
      const checked = await record(null, hostKey);
      if (!checked) throw notFound("server");
      if (checked.hostKey !== hostKey) {
        throw conflict(
          "server_changed",
          "Cannot report a result: the server was changed during the check. Check it again",
        );
      }
      return { server: checked, hostKey, result };
    } catch (error) {
      // Who leaves says nothing about the server.
      if (error instanceof Failure && error.kind !== "not_found" && !signal?.aborted) await record(error.message, null);
      throw error;
    }
  };
}

/** The SSH target of a stored server. */
export function targetOf(server: Server, credentials: ServerCredentials): RemoteTarget {
  return {
    host: server.sshHost,
    port: server.sshPort,
    user: server.sshUser,
    password: credentials.sshPassword ?? undefined,
    privateKey: credentials.sshPrivateKey ?? undefined,
    keyPassphrase: credentials.sshKeyPassphrase ?? undefined,
    hostKey: server.hostKey ?? undefined,
  };
}

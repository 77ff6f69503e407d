import { Failure, isEngineAway } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { HeldContainers, ProjectFiles, Stack } from "../../domain/migration/stack.ts";
import { adoptableGroups, stackOf } from "../../domain/migration/stack_of.ts";
import type { Server } from "../../domain/servers/server.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { EngineInventories, Progress } from "../../ports/migration/engine_inventories.ts";
import type { YamlReader } from "../../ports/projects/yaml_reader.ts";
import type { RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import type { ServerConnection, ServerConnections } from "../../ports/servers/server_connections.ts";
import { type OnServerPorts, workOnServer } from "../servers/work_on_server.ts";
import { readComposeFiles } from "./read_compose_files.ts";

/** Below the time after which the server closes a connection without traffic. */
const LIMIT_MS = 55_000;

export interface InspectServerPorts extends OnServerPorts {
  readonly adoptions: Adoptions;
  readonly engineInventories: EngineInventories;
  readonly serverConnections: ServerConnections;
  readonly yamlReader: YamlReader;
}

/** What ends an inspection early, and who is told how far it is. */
export interface InspectOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Progress | undefined;
}

/** A server and what runs there. */
export interface InspectedServer {
  readonly server: Server;
  readonly stack: Stack;
}

/**
 * Reads what runs on a server, without changing anything there, in at most a minute. The caller needs `server:write` on
 * it, which is checked before anything is connected.
 */
export function inspectServer(ports: InspectServerPorts) {
  const onServer = workOnServer(ports);
  const readFiles = readComposeFiles(ports);
  return async function (
    by: Principal,
    serverId: string,
    { signal, progress = () => {} }: InspectOptions = {},
  ): Promise<InspectedServer> {
    const limit = AbortSignal.timeout(LIMIT_MS);
    const within = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
    const work = async (target: RemoteTarget, { name }: Server) => {
      try {
        progress(`Connecting to ${name}`);
        await using connection = await ports.serverConnections.open(target, { signal: within });
        const held = await ports.adoptions.onServer(serverId);
        return { hostKey: connection.hostKey, result: await stackIn(connection, held, { signal: within, progress }) };
      } catch (error) {
        throw asRemote(error, { name, isLate: limit.aborted });
      }
    };
    const { server, result } = await onServer(by, serverId, work, signal);
    return { server, stack: result };
  };

  async function stackIn(
    connection: ServerConnection,
    held: HeldContainers,
    { signal, progress }: { readonly signal: AbortSignal; readonly progress: Progress },
  ): Promise<Stack> {
    const inventory = await ports.engineInventories.read(connection.engineAddress, { signal, progress });
    const files = new Map<string, ProjectFiles>();
    for (const group of adoptableGroups(inventory, held)) {
      progress(`Reading the compose files of ${group.name}`);
      files.set(group.name, await readFiles(group, { connection, signal }));
    }
    return stackOf(inventory, files, held);
  }
}

/** Converts whatever went wrong on the way to a server or on it to a failure of that server. */
function asRemote(error: unknown, { name, isLate }: { readonly name: string; readonly isLate: boolean }): unknown {
  if (isLate) {
    const why = `not everything on it answered within ${LIMIT_MS / 1_000} s. Check the server and its containers, then try again`;
    return new Failure("remote_failed", "scan_timeout", `Cannot inspect "${name}": ${why}`);
  }
  if (isEngineAway(error)) {
    const why = "its container engine stopped answering. Check that it runs there, then try again";
    return new Failure("remote_failed", "engine_stopped", `Cannot inspect "${name}": ${why}`, { cause: error });
  }
  if (error instanceof Failure && error.code === "host_key_changed") {
    return new Failure("remote_failed", error.code, error.message);
  }
  return error;
}

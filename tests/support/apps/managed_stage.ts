import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DockerEngineInventories } from "../../../adapters/docker/inventory/engine_inventories.ts";
import { SshServerConnections } from "../../../adapters/ssh/engine/server_connections.ts";
import { Secret } from "../../../domain/secret.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { clientArguments, type ServerStage } from "../../contracts/server_stage.ts";
import { faultyListener } from "../faults/faulty_listener.ts";
import { keyPair } from "../inputs/key_pair.ts";
import { writeRemote } from "../peers/compose_container.ts";
import { type ManagedServer, type ManagedUser, startManagedServer } from "../peers/managed_server.ts";
import { NO_ENGINE } from "../servers/slipway_process.ts";

/** Connections to real servers. Disposal closes them and removes their folder. */
export interface OwnConnections extends AsyncDisposable {
  readonly connections: SshServerConnections;
  readonly folder: string;
}

/** Opens connections with a folder of their own. */
export async function ownConnections(): Promise<OwnConnections> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-servers-"));
  const connections = new SshServerConnections({ folder });
  return {
    connections,
    folder,
    async [Symbol.asyncDispose]() {
      await connections[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Address and credentials of a user, without the host key. */
export function withoutHostKey(server: ManagedServer, user: ManagedUser): RemoteTarget {
  const { hostKey: _, ...target } = server.target(user);
  return target;
}

/** Removes the engine of a server. */
export async function removeEngine(server: ManagedServer): Promise<void> {
  await server.stopEngine();
  await server.exec(["rm", "/usr/bin/docker", "/usr/sbin/dockerd"]);
}

/** Returns a stage on a server that has `tiny:latest`, and if told so with another one without an engine. */
export async function managedStage(
  server: ManagedServer,
  { hasBare }: { readonly hasBare: boolean },
): Promise<ServerStage> {
  await using opened = new AsyncDisposableStack();
  const bare = hasBare ? opened.use(await startManagedServer()) : server;
  if (hasBare) await removeEngine(bare);
  const { connections } = opened.use(await ownConnections());
  const absent = faultyListener("closing");
  absent[Symbol.dispose]();
  const worker = withoutHostKey(server, "worker");
  const lifetime = opened.move();
  return {
    connections,
    inventories: new DockerEngineInventories(),
    worker,
    outsider: withoutHostKey(server, "outsider"),
    bare: withoutHostKey(bare, "worker"),
    absent: { ...worker, port: absent.port },
    strangerKey: new Secret(keyPair().private),
    deadAddress: NO_ENGINE,
    async writeFile(path, text, { isPrivate = false } = {}) {
      await writeRemote(server, path, text);
      if (isPrivate) await server.exec(["chmod", "600", path]);
    },
    createContainer: (container) => server.docker(clientArguments(container)),
    removeContainer: async (name) => void (await server.docker(["rm", "--force", "--volumes", name])),
    createVolume: async (name) => void (await server.docker(["volume", "create", name])),
    createNetwork: async (name, subnet) => void (await server.docker(["network", "create", "--subnet", subnet, name])),
    stopEngine: () => server.stopEngine(),
    startEngine: () => server.startEngine(),
    cutPower: () => server.kill(),
    restorePower: () => server.start(),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

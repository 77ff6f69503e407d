import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { SshServerConnections } from "../../../adapters/ssh/engine/server_connections.ts";
import { ServerLink } from "../../../adapters/ssh/engine/server_link.ts";
import { BASE } from "./docker_images.ts";
import type { DistantWorld } from "./docker_world.ts";
import { type ManagedServer, startManagedServer } from "./managed_server.ts";

/** The engine of a managed server as the adapters reach it over SSH. */
export interface DistantEngine extends DistantWorld, AsyncDisposable {
  readonly server: ManagedServer;
  /** The address that leads to it, as in `DOCKER_HOST`. */
  readonly host: string;
}

/** Starts a managed server with the tiny image, also as the base image of tests. Disposal removes it. */
export async function distantEngine(): Promise<DistantEngine> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await startManagedServer());
  await server.loadTinyImage();
  await server.docker(["tag", "tiny", BASE]);
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const connections = opened.use(new SshServerConnections({ folder }));
  const remote = server.target("worker");
  const link = opened.use(new ServerLink(connections, async () => ({ name: "managed", remote, pin: async () => {} })));
  const address = async () => (await link.connection()).engineAddress;
  const engine = new EngineApi({ address, name: () => link.name, failure: () => link.failure });
  const host = await address();
  const image = await server.docker(["image", "inspect", "--format", "{{.Id}}", "tiny"]);
  const lifetime = opened.move();
  return {
    server,
    host,
    engine,
    image,
    reach: (port) => link.reach(port),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

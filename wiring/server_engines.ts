import { join } from "node:path";
import { DockerContainerEngine } from "../adapters/docker/engine/container_engine.ts";
import { EngineApi } from "../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../adapters/docker/build/image_builder.ts";
import { DockerImageRegistry } from "../adapters/docker/images/image_registry.ts";
import { DockerImageTransfer } from "../adapters/docker/images/image_transfer.ts";
import { DockerReleaseImages } from "../adapters/docker/images/release_images.ts";
import { DockerRuntime } from "../adapters/docker/containers/docker_runtime.ts";
import { DockerVolumes } from "../adapters/docker/containers/docker_volumes.ts";
import { DockerServiceNetworks } from "../adapters/docker/networks/service_networks.ts";
import { EndingHandlers } from "../adapters/shared/ending_handlers.ts";
import type { SshServerConnections } from "../adapters/ssh/engine/server_connections.ts";
import { ServerLink } from "../adapters/ssh/engine/server_link.ts";
import { targetOf } from "../application/servers/work_on_server.ts";
import type { InstanceEndings } from "../ports/services/instance_endings.ts";
import type { ServerEngine, ServerEngines } from "../ports/servers/server_engines.ts";
import type { ServerOwners } from "../ports/servers/server_owners.ts";
import type { Servers } from "../ports/servers/servers.ts";
import type { Log } from "../ports/system/log.ts";

/** What the engines of servers are reached through. */
export interface SshServerEnginesOptions {
  readonly serverConnections: SshServerConnections;
  readonly serverOwners: ServerOwners;
  readonly servers: Pick<Servers, "checked" | "credentials" | "find">;
  readonly installation: string;
  /** The folder for notes about instances, with a folder in it for each server. */
  readonly folder: string;
  /** The engine of this machine, which images are sent from. */
  readonly localEngine: EngineApi;
  readonly log: Log;
}

const MAX_JSON_BYTES = 67_108_864;

interface Entry {
  readonly link: ServerLink;
  readonly engine: ServerEngine & { readonly runtime: DockerRuntime };
}

/** The engines of servers over SSH: the adapters for Docker, each with the engine of another machine. */
export class SshServerEngines implements ServerEngines, InstanceEndings, AsyncDisposable {
  readonly #options: SshServerEnginesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #endings = new EndingHandlers();

  constructor(options: SshServerEnginesOptions) {
    this.#options = options;
  }

  of(serverId: string): ServerEngine {
    return this.#entry(serverId).engine;
  }

  noteContainers(serverId: string): Promise<void> {
    return this.#options.serverOwners.noteContainers(serverId);
  }

  inUse(): Promise<readonly string[]> {
    return this.#options.serverOwners.inUse();
  }

  onEnding(handler: (instanceId: string) => void): () => void {
    return this.#endings.add(handler);
  }

  /** Starts supervising the instances on all servers in use. */
  async supervise(): Promise<void> {
    await this.#leaveDeleted();
    for (const serverId of await this.inUse()) void this.#entry(serverId).engine.runtime.supervise();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(all.map(({ engine }) => engine.runtime[Symbol.asyncDispose]()));
    await Promise.all(all.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  /** Leaves servers that were deleted. */
  async #leaveDeleted(): Promise<void> {
    for (const [serverId, { engine, link }] of this.#entries) {
      if ((await this.#options.serverOwners.organizationOf(serverId)) !== undefined) continue;
      this.#entries.delete(serverId);
      await engine.runtime[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
    }
  }

  #entry(serverId: string): Entry {
    const known = this.#entries.get(serverId);
    if (known) return known;
    const link = new ServerLink(this.#options.serverConnections, () => this.#target(serverId));
    const entry = { link, engine: this.#engine(serverId, link) };
    entry.engine.runtime.onEnding((instanceId) => this.#endings.notify(instanceId));
    this.#entries.set(serverId, entry);
    return entry;
  }

  async #target(serverId: string) {
    const { serverOwners, servers } = this.#options;
    const organizationId = await serverOwners.organizationOf(serverId);
    if (organizationId === undefined) return undefined;
    const [server, credentials] = await Promise.all([
      servers.find(organizationId, serverId),
      servers.credentials(organizationId, serverId),
    ]);
    if (!server || !credentials) return undefined;
    const { sshHost, sshPort } = server;
    const pin = async (hostKey: string) => {
      await servers.checked(organizationId, serverId, { sshHost, sshPort, at: new Date(), error: null, hostKey });
    };
    return { name: server.name, remote: targetOf(server, credentials), pin };
  }

  #engine(serverId: string, link: ServerLink): Entry["engine"] {
    const { folder, installation, localEngine, log } = this.#options;
    const address = async () => (await link.connection()).engineAddress;
    const distant = { address, name: () => link.name, failure: () => link.failure };
    const engine = new EngineApi(distant, { maxJsonBytes: MAX_JSON_BYTES });
    const releaseImages = new DockerReleaseImages({ engine, installation });
    const runtime = new DockerRuntime({
      engine,
      installation,
      folder: join(folder, serverId),
      log,
      watchOnStart: true,
      reach: (port) => link.reach(port),
    });
    return {
      adoptedContainers: runtime,
      containerEngine: new DockerContainerEngine(address),
      imageBuilder: new DockerImageBuilder({ engine, installation }),
      imageRegistry: new DockerImageRegistry({ engine, installation, images: releaseImages }),
      // The processes of another machine are not visible here.
      instanceSockets: { listening: async () => undefined },
      imageTransfer: new DockerImageTransfer({ from: localEngine, to: engine }),
      releaseImages,
      runtime,
      serviceNetworks: new DockerServiceNetworks({ engine, installation }),
      volumes: new DockerVolumes({ engine, installation }),
    };
  }
}

import type { ContainerEngine } from "../deployments/container_engine.ts";
import type { ImageBuilder } from "../deployments/image_builder.ts";
import type { ImageRegistry } from "../deployments/image_registry.ts";
import type { ImageTransfer } from "../deployments/image_transfer.ts";
import type { ReleaseImages } from "../deployments/release_images.ts";
import type { AdoptedContainers } from "../services/adopted_containers.ts";
import type { InstanceEndings } from "../services/instance_endings.ts";
import type { InstanceSockets } from "../services/instance_sockets.ts";
import type { RunnableImage, Runtime } from "../services/runtime.ts";
import type { ServiceNetworks } from "../services/service_networks.ts";
import type { Volumes } from "../services/volumes.ts";

/** The ports of the container engine of one server. They work like those of this machine's engine. */
export interface ServerEngine {
  readonly adoptedContainers: AdoptedContainers;
  readonly containerEngine: ContainerEngine;
  readonly imageBuilder: ImageBuilder;
  readonly imageRegistry: ImageRegistry;
  readonly imageTransfer: ImageTransfer;
  readonly instanceSockets: InstanceSockets;
  readonly releaseImages: ReleaseImages;
  readonly runtime: Runtime<RunnableImage> & InstanceEndings;
  readonly serviceNetworks: ServiceNetworks;
  readonly volumes: Volumes;
}

/** The container engines of servers. */
export interface ServerEngines {
  /**
   * Returns the ports of a server's engine, the same ones every time. Nothing is connected until one is used; while the
   * server cannot be reached, they reject with an `unavailable` failure, code `engine_away`, that says why.
   */
  of(serverId: string): ServerEngine;
  /** Records that something is put into containers on a server, so that it is looked after until it is deleted. */
  noteContainers(serverId: string): Promise<void>;
  /** Returns the ids of the servers that something was ever put into containers on. */
  inUse(): Promise<readonly string[]>;
}

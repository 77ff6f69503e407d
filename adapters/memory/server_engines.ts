import type { ServerEngine, ServerEngines } from "../../ports/servers/server_engines.ts";
import { MemoryContainerEngine } from "./container_engine.ts";
import { MemoryImageBuilder } from "./image_builder.ts";
import { MemoryImageRegistry } from "./image_registry.ts";
import { MemoryImageTransfer } from "./image_transfer.ts";
import type { MemoryTables } from "./memory_tables.ts";
import type { MemoryReleaseFolders } from "./release_folders.ts";
import { MemoryReleaseImages } from "./release_images.ts";
import type { MemoryRuntime } from "./runtime.ts";
import { MemoryServerOwners } from "./server_owners.ts";
import { MemoryServiceNetworks } from "./service_networks.ts";

/** The engine of a simulated server: everything runs in the same simulated runtime, but builds and images are its own. */
export interface MemoryServerEngine extends ServerEngine {
  readonly containerEngine: MemoryContainerEngine;
  readonly imageBuilder: MemoryImageBuilder;
  readonly imageRegistry: MemoryImageRegistry;
  readonly imageTransfer: MemoryImageTransfer;
  readonly releaseImages: MemoryReleaseImages;
  readonly runtime: MemoryRuntime;
}

/** What servers get from the machine that deploys to them: sources, and images that were built there. */
interface MemoryMachine {
  readonly releaseFolders: MemoryReleaseFolders;
  readonly releaseImages: MemoryReleaseImages;
}

/** The engines of simulated servers. */
export class MemoryServerEngines implements ServerEngines {
  readonly #engines = new Map<string, MemoryServerEngine>();
  readonly #owners: MemoryServerOwners;
  readonly #runtime: MemoryRuntime;
  readonly #here: MemoryMachine;

  constructor(tables: MemoryTables, runtime: MemoryRuntime, here: MemoryMachine) {
    this.#owners = new MemoryServerOwners(tables);
    this.#runtime = runtime;
    this.#here = here;
  }

  of(serverId: string): MemoryServerEngine {
    const known = this.#engines.get(serverId);
    if (known) return known;
    const releaseImages = new MemoryReleaseImages();
    const engine: MemoryServerEngine = {
      adoptedContainers: this.#runtime,
      containerEngine: new MemoryContainerEngine(),
      imageBuilder: new MemoryImageBuilder(releaseImages, {}, this.#here.releaseFolders),
      imageRegistry: new MemoryImageRegistry(releaseImages),
      imageTransfer: new MemoryImageTransfer({ from: this.#here.releaseImages, to: releaseImages }),
      instanceSockets: this.#runtime,
      releaseImages,
      runtime: this.#runtime,
      serviceNetworks: new MemoryServiceNetworks(this.#runtime),
      volumes: this.#runtime.volumes,
    };
    this.#engines.set(serverId, engine);
    return engine;
  }

  noteContainers(serverId: string): Promise<void> {
    return this.#owners.noteContainers(serverId);
  }

  inUse(): Promise<readonly string[]> {
    return this.#owners.inUse();
  }
}

import { Failure } from "../../domain/failure.ts";
import type { Inventory } from "../../domain/migration/inventory.ts";
import type { EngineInventories, Progress } from "../../ports/migration/engine_inventories.ts";
import type { MemoryRemoteHosts } from "./remote_hosts.ts";

const ADDRESS = /^memory:\/\/(.+):(\d+)$/;

/** The address of the engine of a simulated machine. */
export function memoryEngineAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `memory://${host}:${port}`;
}

/** Reads the engines of simulated machines. */
export class MemoryEngineInventories implements EngineInventories {
  readonly #hosts: MemoryRemoteHosts;

  constructor(hosts: MemoryRemoteHosts) {
    this.#hosts = hosts;
  }

  async read(
    address: string,
    { signal, progress = () => {} }: { signal?: AbortSignal; progress?: Progress } = {},
  ): Promise<Inventory> {
    signal?.throwIfAborted();
    const [, host = "", port] = ADDRESS.exec(address) ?? [];
    const engine = this.#hosts.machineAt({ host, port: Number(port) })?.engine;
    if (engine === undefined || typeof engine === "string") {
      throw new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there.");
    }
    progress(`Found ${engine.containers.length} containers`);
    return engine;
  }
}

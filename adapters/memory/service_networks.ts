import type { ServiceNetworks } from "../../ports/services/service_networks.ts";
import type { MemoryRuntime } from "./runtime.ts";

/** Simulated networks of a `MemoryRuntime`, of which only their existence is known. */
export class MemoryServiceNetworks implements ServiceNetworks {
  readonly #runtime: MemoryRuntime;
  /** The prepared scopes, each with how many instances had been started by then. */
  readonly #prepared = new Map<string, number>();

  constructor(runtime: MemoryRuntime) {
    this.#runtime = runtime;
  }

  async prepare(scope: string): Promise<void> {
    if (!(await this.has(scope))) this.#prepared.set(scope, this.#runtime.started.length);
  }

  async release(scope: string): Promise<void> {
    this.#prepared.delete(scope);
  }

  /** Whether a scope has a network: an instance is there, or none was started since it was prepared. */
  async has(scope: string): Promise<boolean> {
    const { started } = this.#runtime;
    const there = new Set((await this.#runtime.list()).map(({ instanceId }) => instanceId));
    if (started.some((request) => request.scope === scope && there.has(request.instanceId))) return true;
    const since = this.#prepared.get(scope);
    return since !== undefined && !started.slice(since).some((request) => request.scope === scope);
  }
}

import type { ServiceNetworks } from "../../../ports/services/service_networks.ts";
import { NetworkLeaveQueue } from "../containers/network_leave_queue.ts";
import { OwnContainers } from "../containers/own_containers.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { withRefusalAsFailure } from "../engine/refusals.ts";
import { ScopeNetworks } from "./scope_networks.ts";

export interface DockerServiceNetworksOptions {
  readonly engine: EngineApi;
  /** The owner of these networks; those of other installations are never touched. */
  readonly installation: string;
  /** Labels that networks carry in addition to Slipway's own. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Makes and removes the networks that a `DockerRuntime` of the same installation uses. */
export class DockerServiceNetworks implements ServiceNetworks {
  readonly #networks: ScopeNetworks;

  constructor({ engine, installation, labels = {} }: DockerServiceNetworksOptions) {
    const own = new OwnContainers(engine, installation);
    this.#networks = new ScopeNetworks({ engine, own, labels, departures: new NetworkLeaveQueue() });
  }

  async prepare(scope: string): Promise<void> {
    await withRefusalAsFailure("make a network", () => this.#networks.ensure(scope));
  }

  async release(scope: string): Promise<void> {
    await withRefusalAsFailure("remove a network", () => this.#networks.release(scope));
  }
}

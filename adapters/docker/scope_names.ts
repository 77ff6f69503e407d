import type { ContainerRecord } from "./container_record.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
import { isUnannounced, namesOf, scopeOf } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";
import type { NameNetwork, ScopeNetworks } from "./scope_networks.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * Who is found by which name in a scope. A container gets its names as it joins a network, and cannot get more without leaving it, which would break its
 * connections. So a name that is handed over gets a network of its own: all of the scope join it, and whoever has the name has it there. Each of them
 * is told, by a link, to look for that name there first; where nobody has it there, they find it as before. Every step may be repeated, and
 * several servers may do the same at once.
 */
export class ScopeNames {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #networks: ScopeNetworks;

  constructor(engine: EngineApi, own: OwnContainers, networks: ScopeNetworks) {
    this.#engine = engine;
    this.#own = own;
    this.#networks = networks;
  }

  /**
   * Has a container that was made find all names of its scope, and others find it, unless it is yet to be introduced. Whoever makes a network looks for
   * containers after that, and this looks for networks after the container was made: one of both sees the other.
   */
  async join(containerId: string, labels: Labels): Promise<void> {
    for (const network of await this.#networks.names(scopeOf(labels))) {
      if (!isUnannounced(labels) || !hasName(labels, network)) await this.#connect(network, containerId, labels);
    }
  }

  /** Has all others of its scope find a container by its names. It comes last, so that once it is there, all others are. */
  async introduce({ Id, Config: { Labels } }: Pick<ContainerRecord, "Id" | "Config">): Promise<void> {
    if (!isUnannounced(Labels)) return;
    const scope = scopeOf(Labels);
    for (const name of namesOf(Labels)) {
      const network = { name, id: await this.#networks.ensureFor(scope, name) };
      const all = (await this.#own.list()).filter((other) => scopeOf(other.Labels) === scope);
      for (const other of all) {
        const isIn = Object.values(other.NetworkSettings.Networks ?? {}).some((each) => each.NetworkID === network.id);
        const isToCome = isUnannounced(other.Labels) && hasName(other.Labels, network);
        if (!isIn && !isToCome) await this.#connect(network, other.Id, other.Labels);
      }
      await this.#connect(network, Id, Labels);
    }
  }

  async #connect(network: NameNetwork, containerId: string, labels: Labels): Promise<void> {
    const { id, name } = network;
    const EndpointConfig = { Links: [`${name}:${name}`], Aliases: hasName(labels, network) ? [name] : [] };
    try {
      await this.#engine.request("POST", `/networks/${id}/connect`, {
        json: { Container: containerId, EndpointConfig },
      });
    } catch (error) {
      // It is there already, or it was removed meanwhile; a network that was removed is another matter.
      if (!(error instanceof EngineRefusal) || !PASSED.test(error.message)) throw error;
    }
  }
}

const PASSED = /already exists in network|no such container|marked for removal/i;

function hasName(labels: Labels, { name }: NameNetwork): boolean {
  return namesOf(labels).includes(name);
}

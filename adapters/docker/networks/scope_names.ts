import type { ContainerRecord, ListedContainer } from "../containers/container_record.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { isUnannounced, LABEL, namesOf, scopeOf } from "../containers/labels.ts";
import type { OwnContainers } from "../containers/own_containers.ts";
import type { Generation, ScopeNetworks } from "./scope_networks.ts";

type Labels = Readonly<Record<string, string>>;
type Introduced = Pick<ContainerRecord, "Id" | "Config">;

const TRIES = 3;
const AGAIN_MS = 100;

/** Who is to be in a network, and by which names. */
interface Membership {
  readonly containerId: string;
  readonly aliases: readonly string[];
}

/**
 * Who is found by which name in a scope. A container gets its names as it joins a network, and cannot get more without leaving it, which would break its
 * connections. So whoever is introduced gets a network of its own, a generation: all of the scope join it, each of them told by a link to look there
 * for the names, and in the newest of such networks first; the one that is introduced joins last. From then on it is the one that is found, while
 * connections go on in the networks where they are. When it is removed, its network answers nobody, is left by all, and goes. Every step may be
 * repeated, and several servers may do the same at once.
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
    const { needed, spent } = await this.#look(scopeOf(labels));
    for (const generation of needed) {
      const isToCome = isUnannounced(labels) && generation.instanceId === labels[LABEL.instance];
      const aliases = isUnannounced(labels) ? [] : shared(labels, generation);
      if (!isToCome) await this.#connectIfThere(generation, { containerId, aliases });
    }
    await this.#discard(spent);
  }

  /**
   * Has all others of its scope find a container by its names, and nobody else of its service. The engine refuses one that is just ending or coming, and a
   * network that another server has removed as the second of its name: then all is looked at anew.
   */
  async introduce(container: Introduced): Promise<void> {
    if (!isUnannounced(container.Config.Labels)) return;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#introduce(container);
      } catch (error) {
        if (!(error instanceof EngineRefusal) || attempt === TRIES) throw error;
        await Bun.sleep(AGAIN_MS * attempt);
      }
    }
  }

  async #introduce({ Id, Config: { Labels } }: Introduced): Promise<void> {
    const scope = scopeOf(Labels);
    const generation = await this.#networks.ensureGeneration(scope, Labels[LABEL.instance]!, namesOf(Labels));
    const { needed, containers } = await this.#look(scope);
    for (const other of containers) {
      if (other.Id === Id || isIn(other, generation)) continue;
      // Those of other services that share a name keep it.
      const keeps = !isSameService(other.Labels, Labels) && isFound(other, containers, needed);
      const aliases = keeps ? shared(other.Labels, generation) : [];
      await this.#connectIfThere(generation, { containerId: other.Id, aliases });
    }
    await this.#connect(generation, { containerId: Id, aliases: generation.names });
    await this.tidy(scope);
  }

  /** Removes the networks of those that are gone. What cannot be removed now is removed by the next who comes here. */
  async tidy(scope: string): Promise<void> {
    await this.#discard((await this.#look(scope)).spent);
  }

  /** The same in all scopes. */
  async sweep(): Promise<void> {
    const generations = await this.#networks.generations();
    const there = new Set((await this.#own.list()).map(({ Labels }) => Labels[LABEL.instance]));
    await this.#discard(generations.filter(({ instanceId }) => !there.has(instanceId)));
  }

  async #discard(spent: readonly Generation[]): Promise<void> {
    for (const generation of spent) await this.#networks.discard(generation);
  }

  /** The containers of a scope, and its networks. Networks come first: for each of them there was a container before. */
  async #look(scope: string) {
    const generations = await this.#networks.generations(scope);
    const all = generations.length === 0 ? [] : await this.#own.list();
    const containers = all.filter(({ Labels }) => scopeOf(Labels) === scope);
    const isNeeded = ({ instanceId }: Generation) =>
      containers.some(({ Labels }) => Labels[LABEL.instance] === instanceId);
    return {
      containers,
      needed: generations.filter(isNeeded),
      spent: generations.filter((generation) => !isNeeded(generation)),
    };
  }

  async #connectIfThere(generation: Generation, membership: Membership): Promise<void> {
    try {
      await this.#connect(generation, membership);
    } catch (error) {
      if (!(error instanceof EngineRefusal) || !GONE.test(error.message)) throw error;
    }
  }

  async #connect({ id, names }: Generation, { containerId, aliases }: Membership): Promise<void> {
    const EndpointConfig = { Links: names.map((name) => `${name}:${name}`), Aliases: aliases };
    try {
      await this.#engine.request("POST", `/networks/${id}/connect`, {
        json: { Container: containerId, EndpointConfig },
      });
    } catch (error) {
      if (!(error instanceof EngineRefusal) || !/already exists in network/i.test(error.message)) throw error;
    }
  }
}

/** A container that was removed meanwhile; a network that was removed is another matter. */
const GONE = /no such container|marked for removal/i;

function shared(labels: Labels, { names }: Generation): readonly string[] {
  return namesOf(labels).filter((name) => names.includes(name));
}

function isSameService(one: Labels, other: Labels): boolean {
  return one[LABEL.service] === other[LABEL.service];
}

function isIn({ NetworkSettings }: ListedContainer, { network }: Generation): boolean {
  return NetworkSettings.Networks?.[network] !== undefined;
}

/** Whether a container is the one of its service that others find. */
function isFound(
  { Labels }: ListedContainer,
  containers: readonly ListedContainer[],
  generations: readonly Generation[],
): boolean {
  const ofService = containers.filter((each) => isSameService(each.Labels, Labels));
  const newest = generations.find((generation) =>
    ofService.some((each) => each.Labels[LABEL.instance] === generation.instanceId && isIn(each, generation)),
  );
  return newest ? newest.instanceId === Labels[LABEL.instance] : !isUnannounced(Labels);
}

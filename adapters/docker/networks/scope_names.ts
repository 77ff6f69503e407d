import type { ContainerRecord, ListedContainer } from "../engine/containers.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { isUnannounced, LABEL, namesOf, scopeOf } from "../containers/labels.ts";
import type { OwnContainers } from "../containers/own_containers.ts";
import type { Generation, ScopeNetworks } from "./scope_networks.ts";

type Labels = Readonly<Record<string, string>>;
type Introduced = Pick<ContainerRecord, "Id" | "Config">;

const TRIES = 3;
const AGAIN_MS = 100;

/** A container's membership in a network, with its DNS aliases there. */
interface Membership {
  readonly containerId: string;
  readonly aliases: readonly string[];
}

/**
 * Decides which container the names of a scope resolve to. A container gets its DNS aliases when it joins a network,
 * and cannot get more without leaving it, which would break its connections. So each introduced container gets a
 * network of its own, a generation. All containers of the scope join it, each with links that make it look up the names
 * there, newest generation first; the introduced container joins last. From then on the names resolve to it, while
 * existing connections continue in their networks. Once it is removed, its network resolves nothing; all containers
 * leave it and the network is removed. Every step is idempotent, and several servers may run it concurrently.
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
   * Connects a new container so that it resolves all names of its scope, and so that its own names resolve to it unless
   * it is yet to be introduced. A server that creates a network lists containers afterwards, and this lists networks
   * after the container was created: one of the two sees the other.
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
   * Makes a container's names resolve to it, and to no other instance of its service, in the whole scope. Retries from
   * the start when the engine refuses a container that is just starting or stopping, or a network that another server
   * has removed as a duplicate.
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
      // Containers of other services that share a name keep it.
      const keeps = !isSameService(other.Labels, Labels) && isFound(other, containers, needed);
      const aliases = keeps ? shared(other.Labels, generation) : [];
      await this.#connectIfThere(generation, { containerId: other.Id, aliases });
    }
    await this.#connect(generation, { containerId: Id, aliases: generation.names });
    await this.tidy(scope);
  }

  /** Removes the networks of instances that are gone. The next call retries what cannot be removed now. */
  async tidy(scope: string): Promise<void> {
    await this.#discard((await this.#look(scope)).spent);
  }

  /** Does the same in all scopes. */
  async sweep(): Promise<void> {
    const generations = await this.#networks.generations();
    const there = new Set((await this.#own.list()).map(({ Labels }) => Labels[LABEL.instance]));
    await this.#discard(generations.filter(({ instanceId }) => !there.has(instanceId)));
  }

  async #discard(spent: readonly Generation[]): Promise<void> {
    for (const generation of spent) await this.#networks.discard(generation);
  }

  /** Returns the containers and networks of a scope. Lists networks first: the container of each existed before it. */
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

/** Matches a container that was removed meanwhile, but not a network that was. */
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

/** Whether a container is the one that the names of its service resolve to. */
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

import { networkInterfaces } from "node:os";
import { Failure } from "../../../domain/failure.ts";
import type { NetworkLeaveQueue } from "../containers/network_leave_queue.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL, scopeOf } from "../containers/labels.ts";
import type { OwnContainers } from "../containers/own_containers.ts";

interface Network {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** The desired network. */
interface Wanted {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly internal: boolean;
}

/** A network of a scope that introduces one instance. */
export interface Generation {
  readonly id: string;
  readonly scope: string;
  /** The name of the network. */
  readonly network: string;
  /** Increases with each generation of the scope. */
  readonly number: number;
  readonly instanceId: string;
  /** The DNS names under which the instance is introduced. */
  readonly names: readonly string[];
}

export interface ScopeNetworksOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  /** Labels that networks carry in addition to Slipway's own. */
  readonly labels: Readonly<Record<string, string>>;
  readonly departures: NetworkLeaveQueue;
}

const SUBNETS = 5_120;
const SUBNET_TRIES = 64;
const LAST_GENERATION = 9_999_999;

/**
 * Manages the networks of each scope: one in which only its own services reach each other, and one for each introduced
 * instance.
 */
export class ScopeNetworks {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #departures: NetworkLeaveQueue;
  readonly #making = new Map<string, Promise<void>>();

  constructor({ engine, own, labels, departures }: ScopeNetworksOptions) {
    this.#engine = engine;
    this.#own = own;
    this.#labels = labels;
    this.#departures = departures;
  }

  /** Returns the id of a scope's network, creating it if there is none. Concurrent callers get the same one. */
  async ensure(scope: string): Promise<string> {
    return this.#ensure({ name: this.#name(scope), labels: { [LABEL.scope]: scope }, internal: false });
  }

  /**
   * Returns the network that introduces an instance, creating it as the newest of its scope if there is none. Engines
   * look up a name in one network after the other, sorted by network name, so the newest gets the first name. It is
   * internal, so that it never becomes a container's default route.
   */
  async ensureGeneration(scope: string, instanceId: string, names: readonly string[]): Promise<Generation> {
    const all = await this.generations(scope);
    const known = all.find((each) => each.instanceId === instanceId);
    const number = known?.number ?? (all[0]?.number ?? 0) + 1;
    const order = `${LAST_GENERATION - number}`.padStart(`${LAST_GENERATION}`.length, "0");
    const digest = new Bun.CryptoHasher("sha256").update(instanceId).digest("hex").slice(0, 12);
    const network = known?.network ?? `${this.#name(scope)}.${order}.${digest}`;
    const labels = {
      [LABEL.scope]: scope,
      [LABEL.introduces]: instanceId,
      [LABEL.names]: names.join(" "),
      [LABEL.generation]: `${number}`,
    };
    const id = await this.#ensure({ name: network, labels, internal: true });
    return { id, scope, network, number, instanceId, names };
  }

  /** Returns the generations of a scope, or of all scopes; newest first within each scope. */
  async generations(scope?: string): Promise<readonly Generation[]> {
    const first = new Map<string, Generation>();
    for (const { Id, Name, Labels } of await this.#all(scope === undefined ? {} : { [LABEL.scope]: scope })) {
      const instanceId = Labels?.[LABEL.introduces];
      if (instanceId === undefined || first.has(Name)) continue;
      const names = (Labels?.[LABEL.names] ?? "").split(" ");
      const number = Number(Labels?.[LABEL.generation]);
      first.set(Name, { id: Id, scope: Labels?.[LABEL.scope] ?? "", network: Name, number, instanceId, names });
    }
    return [...first.values()].sort((a, b) => (a.network < b.network ? -1 : 1));
  }

  /**
   * Disconnects all containers from a network that no longer introduces an instance, and removes it. Leaves whatever
   * the engine refuses: a container that waits for its next restart cannot leave a network, and would not start again
   * without it.
   */
  async discard({ id, network, scope }: Generation): Promise<void> {
    const leave = async (from: string) => {
      for (const container of await this.#membersOf(network)) {
        await this.#departures.run(scope, () => this.#disconnect(from, container));
      }
    };
    await leave(id);
    if ((await this.#membersOf(network)).length > 0 || !(await this.#remove(id))) return;
    // A stopped container may have joined just before; as a member of a removed network it could not start any more.
    await leave(network);
  }

  /** Removes a scope's networks unless the scope still has a container, running or not. */
  async release(scope: string): Promise<void> {
    if ((await this.#own.list()).some(({ Labels }) => scopeOf(Labels) === scope)) return;
    const main = this.#name(scope);
    const all = await this.#all();
    const gone = all.filter(({ Name, Labels }) => Name === main || Labels?.[LABEL.scope] === scope);
    for (const { Id } of gone) await this.#remove(Id);
  }

  /**
   * Removes networks older than `olderThanMs` whose scope has no container, such as those that a killed server left
   * behind. The next start in the scope recreates them.
   */
  async sweep(olderThanMs: number): Promise<void> {
    const all = await this.#all();
    const used = new Set((await this.#own.list()).map(({ Labels }) => scopeOf(Labels)));
    for (const { Id, Name, Labels, Created } of all) {
      const scope = Labels?.[LABEL.scope] ?? Name.slice(this.#own.prefix.length);
      if (!used.has(scope) && Date.now() - Date.parse(Created) > olderThanMs) await this.#remove(Id);
    }
  }

  async #ensure(wanted: Wanted): Promise<string> {
    const known = await this.#only(wanted);
    if (known !== undefined) return known;
    let making = this.#making.get(wanted.name);
    if (!making) {
      making = this.#create(wanted).finally(() => this.#making.delete(wanted.name));
      this.#making.set(wanted.name, making);
    }
    await making;
    const made = await this.#only(wanted);
    if (made === undefined) throw new EngineRefusal(404, "network not found");
    return made;
  }

  /**
   * Returns the id of the network with this name, if there is one. When two servers create it at once, the engine makes
   * two of one name and then accepts neither: removes all but the one in use, or else the oldest.
   */
  async #only({ name }: Wanted): Promise<string | undefined> {
    const left = (await this.#all()).filter(({ Name }) => Name === name).map(({ Id }) => Id);
    for (const id of left.toReversed()) {
      if (left.length > 1 && (await this.#remove(id))) left.splice(left.indexOf(id), 1);
    }
    return left[0];
  }

  /** Lists this installation's networks with these labels, oldest first. */
  async #all(labels: Readonly<Record<string, string>> = {}): Promise<readonly Network[]> {
    const filters = JSON.stringify({ label: this.#own.filter(labels) });
    const networks = await this.#engine.json<readonly Network[]>("GET", "/networks", { query: { filters } });
    return networks.toSorted((a, b) =>
      a.Created === b.Created ? (a.Id < b.Id ? -1 : 1) : a.Created < b.Created ? -1 : 1,
    );
  }

  /**
   * Creates a network; 409 means that another server was faster. Engines have some thirty address ranges of their own;
   * once those are used up, this picks a subnet.
   */
  async #create(wanted: Wanted): Promise<void> {
    const taken = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ cidr }) => cidr ?? "") ?? []);
    const first = Math.floor(Math.random() * SUBNETS);
    for (let attempt = 0; attempt <= SUBNET_TRIES; attempt++) {
      const subnet = attempt === 0 ? undefined : subnetAt((first + attempt) % SUBNETS);
      if (subnet && taken.some((cidr) => overlap(cidr, subnet))) continue;
      try {
        return await this.#createIn(wanted, subnet);
      } catch (error) {
        if (!(error instanceof EngineRefusal)) throw error;
        if (error.status === 409) return;
        if (!/address pool|pool overlaps/i.test(error.message)) throw error;
      }
    }
    throw new Failure(
      "unavailable",
      "no_free_network",
      "Cannot start this: Docker has no address range left for another network; run docker network prune",
    );
  }

  async #createIn({ name, labels, internal }: Wanted, subnet: string | undefined): Promise<void> {
    const json = {
      Name: name,
      CheckDuplicate: true,
      Driver: "bridge",
      Internal: internal,
      Labels: this.#own.labelled({ ...this.#labels, ...labels }),
      ...(subnet && { IPAM: { Config: [{ Subnet: subnet }] } }),
    };
    await this.#engine.json("POST", "/networks/create", { json });
  }

  /** Returns the ids of all containers that belong to a network, running or not. */
  async #membersOf(network: string): Promise<readonly string[]> {
    const all = await this.#own.list();
    return all.filter(({ NetworkSettings }) => NetworkSettings.Networks?.[network]).map(({ Id }) => Id);
  }

  /** Disconnects by force, also from a network that no longer exists. */
  async #disconnect(network: string, container: string): Promise<void> {
    try {
      await this.#engine.request("POST", `/networks/${network}/disconnect`, {
        json: { Container: container, Force: true },
      });
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
    }
  }

  /** Returns whether the network is gone; the engine refuses if a container has joined it. */
  async #remove(id: string): Promise<boolean> {
    try {
      await this.#engine.request("DELETE", `/networks/${id}`);
      return true;
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
      return error.status === 404;
    }
  }

  #name(scope: string): string {
    return `${this.#own.prefix}${scope}`;
  }
}

/** Returns a /24 subnet out of 10.200.0.0 to 10.219.255.255. */
function subnetAt(index: number): string {
  return `10.${200 + Math.floor(index / 256)}.${index % 256}.0/24`;
}

/** Returns whether two CIDR ranges overlap; `false` for anything but IPv4. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [rangeOf(one), rangeOf(other)];
  if (!a || !b) return false;
  const shift = 32 - Math.min(a.bits, b.bits);
  return Math.floor(a.address / 2 ** shift) === Math.floor(b.address / 2 ** shift);
}

function rangeOf(cidr: string): { readonly address: number; readonly bits: number } | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr);
  const [bits, ...bytes] = match ? [match[5], ...match.slice(1, 5)].map(Number) : [];
  return bits === undefined ? undefined : { address: bytes.reduce((sum, byte) => sum * 256 + byte, 0), bits };
}

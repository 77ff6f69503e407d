import { networkInterfaces } from "node:os";
import { Failure } from "../../../domain/failure.ts";
import type { Departures } from "../containers/departures.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL, scopeOf } from "../containers/labels.ts";
import type { OwnContainers } from "../containers/own_containers.ts";

interface Network {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** A network as it is to be. */
interface Wanted {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly internal: boolean;
}

/** A network of a scope that is there to introduce one instance. */
export interface Generation {
  readonly id: string;
  readonly scope: string;
  /** The name of the network. */
  readonly network: string;
  /** Grows with each that is made in the scope. */
  readonly number: number;
  readonly instanceId: string;
  /** By which names it is introduced. */
  readonly names: readonly string[];
}

export interface ScopeNetworksOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  /** Labels that networks carry beside Slipway's own. */
  readonly labels: Readonly<Record<string, string>>;
  readonly departures: Departures;
}

const SUBNETS = 5_120;
const SUBNET_TRIES = 64;
const LAST_GENERATION = 9_999_999;

/** The networks of each scope: one in which its services find each other and nobody else does, and one for each that was introduced. */
export class ScopeNetworks {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #departures: Departures;
  readonly #making = new Map<string, Promise<void>>();

  constructor({ engine, own, labels, departures }: ScopeNetworksOptions) {
    this.#engine = engine;
    this.#own = own;
    this.#labels = labels;
    this.#departures = departures;
  }

  /** The id of a scope's network, made if there is none; several callers at once get the same. */
  async ensure(scope: string): Promise<string> {
    return this.#ensure({ name: this.#name(scope), labels: { [LABEL.scope]: scope }, internal: false });
  }

  /**
   * The network that introduces an instance, made if there is none, as the newest of its scope. Engines look for a name in one network after the other,
   * in the order of their names, so the newest has the first. It leads nowhere else, so that it never becomes the way out of a container.
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

  /** Those of a scope, or of all, that introduce somebody, newest first in each. */
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
   * Has everybody leave a network that introduces nobody any more, and removes it. What the engine refuses is left as it is: a container that
   * waits for its next start cannot leave a network, and would not start again without it.
   */
  async discard({ id, network, scope }: Generation): Promise<void> {
    const leave = async (from: string) => {
      for (const container of await this.#membersOf(network)) {
        await this.#departures.run(scope, () => this.#disconnect(from, container));
      }
    };
    await leave(id);
    if ((await this.#membersOf(network)).length > 0 || !(await this.#remove(id))) return;
    // Somebody who does not run may have joined just before: the engine would not start it any more.
    await leave(network);
  }

  /** Removes a scope's networks unless a container of it is left, running or not. */
  async release(scope: string): Promise<void> {
    if ((await this.#own.list()).some(({ Labels }) => scopeOf(Labels) === scope)) return;
    const main = this.#name(scope);
    const all = await this.#all();
    const gone = all.filter(({ Name, Labels }) => Name === main || Labels?.[LABEL.scope] === scope);
    for (const { Id } of gone) await this.#remove(Id);
  }

  /** Removes networks of that age whose scope has no container, as a killed server leaves them; whoever starts something there makes them anew. */
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

  /** An engine that two servers ask at once makes two of one name, and then takes neither: the one in use counts for everybody, else the older. */
  async #only({ name }: Wanted): Promise<string | undefined> {
    const left = (await this.#all()).filter(({ Name }) => Name === name).map(({ Id }) => Id);
    for (const id of left.toReversed()) {
      if (left.length > 1 && (await this.#remove(id))) left.splice(left.indexOf(id), 1);
    }
    return left[0];
  }

  /** All of this installation with these labels, oldest first. */
  async #all(labels: Readonly<Record<string, string>> = {}): Promise<readonly Network[]> {
    const filters = JSON.stringify({ label: this.#own.filter(labels) });
    const networks = await this.#engine.json<readonly Network[]>("GET", "/networks", { query: { filters } });
    return networks.toSorted((a, b) =>
      a.Created === b.Created ? (a.Id < b.Id ? -1 : 1) : a.Created < b.Created ? -1 : 1,
    );
  }

  /** Somebody else may be quicker. Engines have some thirty address ranges to give by themselves; beyond those, one is chosen here. */
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

  /** The ids of all containers that are to be in a network, running or not. */
  async #membersOf(network: string): Promise<readonly string[]> {
    const all = await this.#own.list();
    return all.filter(({ NetworkSettings }) => NetworkSettings.Networks?.[network]).map(({ Id }) => Id);
  }

  /** By force, also out of a network that is not there any more. */
  async #disconnect(network: string, container: string): Promise<void> {
    try {
      await this.#engine.request("POST", `/networks/${network}/disconnect`, {
        json: { Container: container, Force: true },
      });
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
    }
  }

  /** Whether it is gone; somebody may have joined it. */
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

/** A small range out of 10.200.0.0 to 10.219.255.255. */
function subnetAt(index: number): string {
  return `10.${200 + Math.floor(index / 256)}.${index % 256}.0/24`;
}

/** Whether two ranges share an address; what is not of IPv4 shares none. */
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

import { networkInterfaces } from "node:os";
import { Failure } from "../../domain/failure.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
import { LABEL, scopeOf } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";

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

/** A network of a scope that is for one name. */
export interface NameNetwork {
  readonly id: string;
  readonly name: string;
}

const SUBNETS = 5_120;
const SUBNET_TRIES = 64;

/** The networks of each scope: one in which its services find each other and nobody else does, and one for each name that was handed over. */
export class ScopeNetworks {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #making = new Map<string, Promise<void>>();

  constructor(engine: EngineApi, own: OwnContainers, labels: Readonly<Record<string, string>>) {
    this.#engine = engine;
    this.#own = own;
    this.#labels = labels;
  }

  /** The id of a scope's network, made if there is none; several callers at once get the same. */
  async ensure(scope: string): Promise<string> {
    return this.#ensure({ name: this.#name(scope), labels: { [LABEL.scope]: scope }, internal: false });
  }

  /** The id of the network for a name, made if there is none. It leads nowhere else, so that it never becomes the way out of a container. */
  async ensureFor(scope: string, name: string): Promise<string> {
    const digest = new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, 12);
    const labels = { [LABEL.scope]: scope, [LABEL.name]: name };
    return this.#ensure({ name: `${this.#name(scope)}.${digest}`, labels, internal: true });
  }

  /** Those that are for a name, of a scope. */
  async names(scope: string): Promise<readonly NameNetwork[]> {
    const first = new Map<string, NameNetwork>();
    for (const { Id, Labels } of await this.#all({ [LABEL.scope]: scope })) {
      const name = Labels?.[LABEL.name];
      if (name !== undefined && !first.has(name)) first.set(name, { id: Id, name });
    }
    return [...first.values()];
  }

  /** Removes a scope's networks unless a container of it is left, running or not. */
  async release(scope: string): Promise<void> {
    if ((await this.#own.list()).some(({ Labels }) => scopeOf(Labels) === scope)) return;
    const main = this.#name(scope);
    const all = await this.#all();
    const gone = all.filter(({ Name, Labels }) => Name === main || Labels?.[LABEL.scope] === scope);
    for (const { Id } of gone) await this.#remove(Id);
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

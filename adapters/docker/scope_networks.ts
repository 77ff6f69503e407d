import { networkInterfaces } from "node:os";
import { Failure } from "../../domain/failure.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
import { LABEL, type OwnContainers } from "./own_containers.ts";

interface Network {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
}

const SUBNETS = 5_120;
const SUBNET_TRIES = 64;

/** One network for each project, in which its services find each other by name and nobody else does. */
export class ProjectNetworks {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #making = new Map<string, Promise<void>>();

  constructor(engine: EngineApi, own: OwnContainers, labels: Readonly<Record<string, string>>) {
    this.#engine = engine;
    this.#own = own;
    this.#labels = labels;
  }

  /** The id of a project's network, made if there is none; several callers at once get the same. */
  async ensure(projectId: string): Promise<string> {
    const known = await this.#only(projectId);
    if (known !== undefined) return known;
    let making = this.#making.get(projectId);
    if (!making) {
      making = this.#create(projectId).finally(() => this.#making.delete(projectId));
      this.#making.set(projectId, making);
    }
    await making;
    const made = await this.#only(projectId);
    if (made === undefined) throw new EngineRefusal(404, "network not found");
    return made;
  }

  /** Removes a project's network unless a container of the project is left, running or not. */
  async release(projectId: string): Promise<void> {
    if ((await this.#own.list({ [LABEL.project]: projectId })).length > 0) return;
    for (const { Id } of await this.#of(projectId)) await this.#remove(Id);
  }

  /** An engine that two servers ask at once makes two of one name, and then takes neither: the one in use counts for everybody, else the older. */
  async #only(projectId: string): Promise<string | undefined> {
    const left = (await this.#of(projectId)).map(({ Id }) => Id);
    for (const id of left.toReversed()) {
      if (left.length > 1 && (await this.#remove(id))) left.splice(left.indexOf(id), 1);
    }
    return left[0];
  }

  async #of(projectId: string): Promise<readonly Network[]> {
    const filters = JSON.stringify({ label: this.#own.filter({ [LABEL.project]: projectId }) });
    const networks = await this.#engine.json<readonly Network[]>("GET", "/networks", { query: { filters } });
    const name = this.#name(projectId);
    return networks
      .filter(({ Name }) => Name === name)
      .sort((a, b) => (a.Created === b.Created ? (a.Id < b.Id ? -1 : 1) : a.Created < b.Created ? -1 : 1));
  }

  /** Somebody else may be quicker. Engines have some thirty address ranges to give by themselves; beyond those, one is chosen here. */
  async #create(projectId: string): Promise<void> {
    const taken = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ cidr }) => cidr ?? "") ?? []);
    const first = Math.floor(Math.random() * SUBNETS);
    for (let attempt = 0; attempt <= SUBNET_TRIES; attempt++) {
      const subnet = attempt === 0 ? undefined : subnetAt((first + attempt) % SUBNETS);
      if (subnet && taken.some((cidr) => overlap(cidr, subnet))) continue;
      try {
        return await this.#createIn(projectId, subnet);
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

  async #createIn(projectId: string, subnet: string | undefined): Promise<void> {
    const json = {
      Name: this.#name(projectId),
      CheckDuplicate: true,
      Driver: "bridge",
      Labels: this.#own.labelled({ ...this.#labels, [LABEL.project]: projectId }),
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

  #name(projectId: string): string {
    return `${this.#own.prefix}${projectId}`;
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

import type { ContainerRecord, ListedContainer } from "./container_record.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";

const READ_MS = 20_000;
const REMOVING_MS = 50;

/**
 * The containers of one installation among all that an engine has. Labels alone do not tell: an image hands its own to whatever is run
 * from it, by hand too. So a container is ours when its labels and its name agree.
 */
export class OwnContainers {
  readonly #engine: EngineApi;
  readonly #installation: string;
  readonly #ids = new Map<string, string>();
  /** What the names of this installation's containers and networks begin with. */
  readonly prefix: string;

  constructor(engine: EngineApi, installation: string) {
    this.#engine = engine;
    this.#installation = installation;
    this.prefix = `slipway-${new Bun.CryptoHasher("sha256").update(installation).digest("hex").slice(0, 8)}-`;
  }

  /** The name of an instance's container. It changes with each restart by hand, as nothing else on it can note their number. */
  name(instanceId: string, restarts: number): string {
    return `${this.prefix}${instanceId}${restarts === 0 ? "" : `.${restarts}`}`;
  }

  /** These labels, and the one of this installation. */
  labelled(labels: Readonly<Record<string, string>>): Record<string, string> {
    return { ...labels, [LABEL.installation]: this.#installation };
  }

  /** The engine's words for: with the labels of this installation, and these. */
  filter(labels: Readonly<Record<string, string>> = {}): string[] {
    return Object.entries(this.labelled(labels)).map(([label, value]) => `${label}=${value}`);
  }

  /** All with these labels, running or not, oldest first. */
  async list(labels: Readonly<Record<string, string>> = {}): Promise<readonly ListedContainer[]> {
    const listed = await this.#engine.json<readonly ListedContainer[]>("GET", "/containers/json", {
      query: { all: true, filters: JSON.stringify({ label: this.filter(labels) }) },
      timeoutMs: this.#readMs,
    });
    return listed.filter(({ Names, Labels }) => Names.some((name) => this.#isOurs(name, Labels))).sort(byAge);
  }

  /** Looks at the container of an instance. */
  async find(instanceId: string): Promise<ContainerRecord | undefined> {
    const known = this.#ids.get(instanceId);
    const record = known === undefined ? undefined : await this.inspect(known);
    if (record) return record;
    this.#ids.delete(instanceId);
    const [first] = await this.list({ [LABEL.instance]: instanceId });
    const found = first && (await this.inspect(first.Id));
    if (found) this.#ids.set(instanceId, found.Id);
    return found;
  }

  /** Looks at a container of ours. */
  async inspect(id: string): Promise<ContainerRecord | undefined> {
    const record = await this.#engine.known<ContainerRecord>("GET", `/containers/${id}/json`, {
      timeoutMs: this.#readMs,
    });
    return record && this.#isOurs(record.Name, record.Config.Labels) ? record : undefined;
  }

  /** Removes a container with the volumes that only it had, whatever state it is in; resolves once it is gone. */
  async remove(id: string): Promise<void> {
    const until = Date.now() + this.#engine.answerMs;
    for (;;) {
      try {
        await this.#engine.request("DELETE", `/containers/${id}`, { query: { force: true, v: true } });
        return;
      } catch (error) {
        const status = error instanceof EngineRefusal ? error.status : undefined;
        if (status === 404) return;
        // Somebody else is removing it.
        if (status !== 409 || Date.now() > until) throw error;
      }
      await Bun.sleep(REMOVING_MS);
    }
  }

  /** How often it was started again before it was last started by hand. */
  restartsBefore({ Name, Config }: ContainerRecord): number {
    return Number(Name.slice(`/${this.prefix}${Config.Labels[LABEL.instance]}.`.length) || 0);
  }

  get #readMs(): number {
    return Math.min(READ_MS, this.#engine.answerMs);
  }

  #isOurs(name: string, labels: Readonly<Record<string, string>>): boolean {
    const own = `/${this.prefix}${labels[LABEL.instance]}`;
    if (labels[LABEL.installation] !== this.#installation || !name.startsWith(own)) return false;
    return /^(\.\d+)?$/.test(name.slice(own.length));
  }
}

function byAge(a: ListedContainer, b: ListedContainer): number {
  return a.Created - b.Created || (a.Id < b.Id ? -1 : 1);
}

import { type AdoptedInstance, adoptedInstance } from "../../../domain/deployments/instance_id.ts";
import {
  type ContainerRecord,
  inspectContainer,
  listContainers,
  type ListedContainer,
  removeContainer,
} from "../engine/containers.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";

const READ_MS = 20_000;
const REMOVING_MS = 50;

/**
 * The containers of one installation among all containers of an engine. Labels alone do not identify them: a container
 * inherits the labels of its image, even when run by hand. So a container is ours if both its labels and its name
 * match.
 */
export class OwnContainers {
  readonly #engine: EngineApi;
  readonly #installation: string;
  readonly #ids = new Map<string, string>();
  /** Name prefix of this installation's containers and networks. */
  readonly prefix: string;

  constructor(engine: EngineApi, installation: string) {
    this.#engine = engine;
    this.#installation = installation;
    this.prefix = `slipway-${new Bun.CryptoHasher("sha256").update(installation).digest("hex").slice(0, 8)}-`;
  }

  /**
   * Returns the name of an instance's container. It changes with each manual restart, because nothing else on a
   * container can store their number.
   */
  name(instanceId: string, restarts: number): string {
    return `${this.prefix}${instanceId}${restarts === 0 ? "" : `.${restarts}`}`;
  }

  /** Returns these labels plus the installation's. */
  labelled(labels: Readonly<Record<string, string>>): Record<string, string> {
    return { ...labels, [LABEL.installation]: this.#installation };
  }

  /** Returns the engine's label filter for this installation and these labels. */
  filter(labels: Readonly<Record<string, string>> = {}): string[] {
    return Object.entries(this.labelled(labels)).map(([label, value]) => `${label}=${value}`);
  }

  /** Lists the containers with these labels, running or not, oldest first. */
  async list(labels: Readonly<Record<string, string>> = {}): Promise<readonly ListedContainer[]> {
    const listed = await listContainers(this.#engine, { label: this.filter(labels) }, { timeoutMs: this.#readMs });
    return listed.filter(({ Names, Labels }) => Names.some((name) => this.#isOurs(name, Labels))).sort(byAge);
  }

  /** Inspects the container of an instance. */
  async find(instanceId: string): Promise<ContainerRecord | undefined> {
    const adopted = adoptedInstance(instanceId);
    return (adopted && (await this.#adopted(adopted, instanceId))) ?? this.#started(instanceId);
  }

  async #started(instanceId: string): Promise<ContainerRecord | undefined> {
    const known = this.#ids.get(instanceId);
    const record = known === undefined ? undefined : await this.inspect(known);
    if (record) return record;
    this.#ids.delete(instanceId);
    const [first] = await this.list({ [LABEL.instance]: instanceId });
    const found = first && (await this.inspect(first.Id));
    if (found) this.#ids.set(instanceId, found.Id);
    return found;
  }

  /** Inspects an adopted container. Its labels are what the id of its instance says. */
  async #adopted(adopted: AdoptedInstance, instanceId: string): Promise<ContainerRecord | undefined> {
    const { containerId, deploymentId, projectId, service } = adopted;
    const record = await inspectContainer(this.#engine, containerId, { timeoutMs: this.#readMs });
    const labels = {
      [LABEL.instance]: instanceId,
      [LABEL.deployment]: deploymentId,
      [LABEL.project]: projectId,
      [LABEL.service]: service,
      [LABEL.scope]: projectId,
      [LABEL.ports]: "",
      [LABEL.oneShot]: "false",
      [LABEL.asFound]: "true",
    };
    return record && { ...record, Config: { ...record.Config, Labels: { ...record.Config.Labels, ...labels } } };
  }

  /** Whether a container was adopted, not started here. */
  isAdopted({ Id, Config }: Pick<ContainerRecord, "Id" | "Config">): boolean {
    const adopted = adoptedInstance(Config.Labels[LABEL.instance] ?? "");
    return adopted !== undefined && Id.startsWith(adopted.containerId);
  }

  /** Inspects a container; `undefined` if it is gone or not ours. */
  async inspect(id: string): Promise<ContainerRecord | undefined> {
    const record = await inspectContainer(this.#engine, id, { timeoutMs: this.#readMs });
    return record && this.#isOurs(record.Name, record.Config.Labels) ? record : undefined;
  }

  /** Removes a container in any state with its anonymous volumes; resolves once it is gone. */
  async remove(id: string): Promise<void> {
    const until = Date.now() + this.#engine.answerMs;
    for (;;) {
      try {
        return await removeContainer(this.#engine, id);
      } catch (error) {
        const status = error instanceof EngineRefusal ? error.status : undefined;
        if (status === 404) return;
        // Another request is removing it.
        if (status !== 409 || Date.now() > until) throw error;
      }
      await Bun.sleep(REMOVING_MS);
    }
  }

  /** Restarts before the engine's own count began: up to and including the last manual one. */
  restartsBefore(record: ContainerRecord): number {
    const { Name, Config } = record;
    if (this.isAdopted(record)) return 0;
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

import { conflict } from "../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../ports/runtime.ts";
import { freeHostPort } from "./container_ports.ts";
import type { ListedContainer } from "./container_record.ts";
import { containerRequest, type ContainerSetting } from "./container_request.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
import { LABEL, type OwnContainers } from "./own_containers.ts";
import type { ProjectNetworks } from "./project_networks.ts";
import { isWorthAnotherTry, startFailure } from "./start_failure.ts";

type ImageRequest = RunRequest<RunnableImage>;

/** What containers are started with. */
export interface ContainerStartOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  readonly networks: ProjectNetworks;
  readonly labels: Readonly<Record<string, string>>;
}

interface ImageRecord {
  readonly Config: { readonly Entrypoint: readonly string[] | null; readonly Cmd: readonly string[] | null };
}

const TRIES = 8;
const AGAIN_MS = 50;
/** Programs that want to be the first process themselves. */
const OWN_INIT = /(^|\/)(init|tini|tini-static|dumb-init|catatonit|systemd|s6-svscan|my_init)$/;

/** Makes containers and starts them, each at a port of its own, also when several servers do so at once. */
export class ContainerStart {
  readonly #options: ContainerStartOptions;
  #engineInit: Promise<boolean> | undefined;

  constructor(options: ContainerStartOptions) {
    this.#options = options;
  }

  /** Resolves to the id of the container that runs; nothing is left of one that does not. */
  async start(request: ImageRequest): Promise<string> {
    const tried = new Set<number>();
    try {
      const init = await this.#init(request);
      for (;;) {
        const hostPort = freeHostPort(tried);
        tried.add(hostPort);
        try {
          return await this.#try(request, { hostPort, init });
        } catch (error) {
          if (!isWorthAnotherTry(error) || tried.size >= TRIES) throw error;
          await Bun.sleep(AGAIN_MS * tried.size);
        }
      }
    } catch (error) {
      await this.#options.networks.release(request.projectId).catch(() => {});
      throw startFailure(error, request);
    }
  }

  async #try(request: ImageRequest, setting: Pick<ContainerSetting, "hostPort" | "init">): Promise<string> {
    const { engine, own, networks } = this.#options;
    const network = await networks.ensure(request.projectId);
    const labels = { ...this.#options.labels, ...own.labels(request, setting.hostPort) };
    const id = await this.#create(request, { ...setting, network, labels });
    try {
      await this.#refuseLater(id, labels);
      await engine.request("POST", `/containers/${id}/start`);
      return id;
    } catch (error) {
      // What went wrong first is what to tell.
      await own.remove(id).catch(() => {});
      throw error;
    }
  }

  async #create(request: ImageRequest, setting: ContainerSetting): Promise<string> {
    const { engine, own } = this.#options;
    try {
      const made = await engine.json<{ readonly Id: string }>("POST", "/containers/create", {
        query: { name: own.name(request.instanceId, 0) },
        json: containerRequest(request, setting),
      });
      return made.Id;
    } catch (error) {
      throw error instanceof EngineRefusal && error.status === 409 ? exists() : error;
    }
  }

  /** Of two that were made at once, the later one gives way: an id and a port are those of one, also while it does not run. */
  async #refuseLater(id: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const { own } = this.#options;
    const sharing = (label: string) => own.list({ [label]: labels[label]! });
    const [named, published] = await Promise.all([sharing(LABEL.instance), sharing(LABEL.port)]);
    const isFirst = (all: readonly ListedContainer[]) => all[0]?.Id === id;
    if (!isFirst(named)) throw exists();
    if (!isFirst(published)) throw new EngineRefusal(409, "port is already allocated");
  }

  /** Whether the engine's init is to be the first process: it takes care of orphans and passes signals on. */
  async #init({ runs }: ImageRequest): Promise<boolean> {
    const { engine } = this.#options;
    const image = await engine.json<ImageRecord>("GET", `/images/${runs.image}/json`);
    const { Entrypoint, Cmd } = image.Config;
    const [program = ""] = runs.command === null ? [...(Entrypoint ?? []), ...(Cmd ?? [])] : [];
    if (OWN_INIT.test(program)) return false;
    this.#engineInit ??= hasInit(engine).catch((error: unknown) => {
      this.#engineInit = undefined;
      throw error;
    });
    return this.#engineInit;
  }
}

async function hasInit(engine: EngineApi): Promise<boolean> {
  const { Components = [] } = await engine.json<{ Components?: readonly { Name: string; Version: string }[] }>(
    "GET",
    "/version",
  );
  return Components.some(({ Name, Version }) => Name === "docker-init" && /\d/.test(Version));
}

function exists() {
  return conflict("instance_exists", "Cannot start this: there is an instance of that id; remove it first");
}

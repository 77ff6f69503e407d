import { conflict } from "../../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";
import type { ContainerFiles, MountedFiles } from "./container_files.ts";
import { containerMounts } from "./container_mounts.ts";
import { freeHostPorts } from "./container_ports.ts";
import { createContainer, type ListedContainer, startContainer } from "../engine/containers.ts";
import { joinNetworks, type OpenRecipe, openRecipe } from "./adopted_recipe.ts";
import { recipeRequest } from "./recipe_request.ts";
import { containerRequest, type ContainerSetting } from "./container_request.ts";
import type { DockerVolumes } from "./docker_volumes.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { EngineInit } from "../engine/engine_init.ts";
import { imageConfig } from "../engine/images.ts";
import { heldPorts, instanceLabels, LABEL } from "./labels.ts";
import type { OwnContainers } from "./own_containers.ts";
import type { ScopeNames } from "../networks/scope_names.ts";
import type { ScopeNetworks } from "../networks/scope_networks.ts";
import { isWorthAnotherTry, startFailure } from "./start_failure.ts";

type ImageRequest = RunRequest<RunnableImage>;

/** The dependencies of `ContainerStart`. */
export interface ContainerStartOptions {
  readonly engine: EngineApi;
  readonly own: OwnContainers;
  readonly networks: ScopeNetworks;
  readonly names: ScopeNames;
  readonly volumes: DockerVolumes;
  readonly files: ContainerFiles;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the engine is on another machine, whose ports cannot be tried here: it refuses one in use. */
  readonly isDistant: boolean;
}

/** The settings that all attempts share. */
interface Prepared extends Pick<ContainerSetting, "init" | "image" | "mounts">, Pick<MountedFiles, "others"> {
  /** The id of the network of its scope. */
  readonly network: Promise<string>;
}

const TRIES = 8;
const AGAIN_MS = 50;

/** Creates and starts containers, each with ports of its own, even when several servers do so concurrently. */
export class ContainerStart {
  readonly #options: ContainerStartOptions;
  readonly #init: EngineInit;

  constructor(options: ContainerStartOptions) {
    this.#options = options;
    this.#init = new EngineInit(options.engine);
  }

  /** Resolves to the id of the running container. On failure, removes everything except the volumes of its scope. */
  async start(request: ImageRequest): Promise<string> {
    const { engine, volumes, files, networks } = this.#options;
    const network = networks.ensure(request.scope);
    // Awaited once the rest is known.
    network.catch(() => {});
    try {
      const image = await imageConfig(engine, request.runs.image);
      const init = await this.#init.isFor(request.runs, image);
      const mounts = await containerMounts(request, image, volumes);
      const mounted = await files.mounted(request, mounts);
      const { others } = mounted;
      try {
        return await this.#tryAll(request, { image, init, mounts: [...mounts, ...mounted.mounts], others, network });
      } catch (error) {
        await mounted.discard().catch(() => {});
        throw error;
      }
    } catch (error) {
      await network.catch(() => {});
      await networks.release(request.scope).catch(() => {});
      throw startFailure(error, request);
    }
  }

  async #tryAll(request: ImageRequest, prepared: Prepared): Promise<string> {
    const tried = new Set<number>();
    for (let attempt = 1; ; attempt++) {
      const ports = freeHostPorts(request.runs.ports, tried, this.#options.isDistant ? { isFree: () => true } : {});
      try {
        // Another server may have removed the network since the first attempt.
        const network = attempt === 1 ? prepared.network : this.#options.networks.ensure(request.scope);
        return await this.#try(request, { ...prepared, network, ports });
      } catch (error) {
        if (!isWorthAnotherTry(error) || attempt === TRIES) throw error;
        await Bun.sleep(AGAIN_MS * attempt);
      }
    }
  }

  async #try(request: ImageRequest, setting: Prepared & Pick<ContainerSetting, "ports">): Promise<string> {
    const { engine, own, names, files } = this.#options;
    const network = await setting.network;
    const labels = own.labelled({ ...this.#options.labels, ...instanceLabels(request, setting.ports) });
    const recipe = request.runs.container?.recipe && openRecipe(request.runs.container.recipe);
    const id = await this.#create(request, { ...setting, network, labels }, recipe);
    try {
      await this.#refuseLater(id, labels);
      if (!recipe?.sharesNetwork) await names.join(id, labels);
      if (recipe) await joinNetworks(engine, id, recipe);
      await files.put(id, setting);
      await startContainer(engine, id);
      return id;
    } catch (error) {
      // Reports the first error.
      await own.remove(id).catch(() => {});
      throw error;
    }
  }

  async #create(request: ImageRequest, setting: ContainerSetting, recipe: OpenRecipe | undefined): Promise<string> {
    const { engine, own } = this.#options;
    try {
      const body = recipe ? recipeRequest(request, setting, recipe) : containerRequest(request, setting);
      return await createContainer(engine, own.name(request.instanceId, 0), body);
    } catch (error) {
      throw error instanceof EngineRefusal && error.status === 409 ? exists() : error;
    }
  }

  /**
   * Refuses the later of two containers created at once: an instance id and a port belong to one container, even while
   * it does not run.
   */
  async #refuseLater(id: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const all = await this.#options.own.list();
    const ports = new Set(heldPorts(labels));
    const isFirst = (sharing: (other: ListedContainer) => boolean) => all.find(sharing)?.Id === id;
    if (!isFirst(({ Labels }) => Labels[LABEL.instance] === labels[LABEL.instance])) throw exists();
    if (ports.size > 0 && !isFirst(({ Labels }) => heldPorts(Labels).some((port) => ports.has(port)))) {
      throw new EngineRefusal(409, "port is already allocated");
    }
  }
}

function exists() {
  return conflict("instance_exists", "Cannot start this: an instance with that ID exists; remove it first");
}

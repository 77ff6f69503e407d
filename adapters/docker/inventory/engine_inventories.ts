import type { FoundNetwork, FoundVolume, Inventory } from "../../../domain/migration/inventory.ts";
import { Failure } from "../../../domain/failure.ts";
import type { EngineInventories, Progress } from "../../../ports/migration/engine_inventories.ts";
import { EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { recipeNetworks } from "./container_recipe.ts";
import { foundContainer } from "./found_container.ts";
import { fieldsOf, itemsOf, type Loose, textFieldsOf, textOf, textsOf } from "./loose_json.ts";

type Fields = Readonly<Record<string, Loose>>;

/** A container as the engine shows it, with its image if the engine has it. */
interface Inspected {
  readonly container: Fields;
  readonly image: Fields | undefined;
}

/** Requests at the same time: enough to hide the way to a distant server. */
const AT_ONCE = 32;
const PROGRESS_EVERY = 25;
const MAX_JSON_BYTES = 33_554_432;
/** More are not read: a server has some hundreds at most. */
const MAX_CONTAINERS = 2_000;
const LONGEST_REASON = 300;

interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
}

/** Reads inventories over the API of Docker, or of Podman, which has the same. */
export class DockerEngineInventories implements EngineInventories {
  async read(address: string, options: ReadOptions = {}): Promise<Inventory> {
    try {
      return await new Reading(new EngineApi(address, { maxJsonBytes: MAX_JSON_BYTES }), options).all();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof EngineRefusal)) throw error;
      const why = plain(error.message);
      throw new Failure("remote_failed", "engine_refused", `Cannot read the containers: the engine says "${why}"`, {
        cause: error,
      });
    }
  }
}

class Reading {
  readonly #engine: EngineApi;
  readonly #signal: AbortSignal | undefined;
  readonly #progress: Progress;
  readonly #images = new Map<string, Promise<Fields | undefined>>();

  constructor(engine: EngineApi, { signal, progress = () => {} }: ReadOptions) {
    this.#engine = engine;
    this.#signal = signal;
    this.#progress = progress;
  }

  async all(): Promise<Inventory> {
    const [version, listed, volumes, networks] = await Promise.all([
      this.#get("/version"),
      this.#get("/containers/json", { all: true }),
      this.#get("/volumes"),
      this.#get("/networks"),
    ]);
    const names = itemsOf(listed).map(fieldsOf);
    this.#progress(`Found ${names.length} ${names.length === 1 ? "container" : "containers"}`);
    const unread: { name: string; reason: string }[] = [];
    const inspected = await this.#inspected(names, unread);
    const made = recipeNetworks(
      itemsOf(networks).map(fieldsOf),
      inspected.map(({ container }) => container),
    );
    const containers = inspected.map(({ container, image }) => foundContainer(container, image, made));
    return {
      runtime: runtimeOf(fieldsOf(version)),
      containers: containers.sort(byName),
      // Engines list them in another order each time.
      volumes: itemsOf(fieldsOf(volumes)["Volumes"]).map(volumeOf).toSorted(byName),
      networks: itemsOf(networks).map(networkOf).toSorted(byName),
      unread,
    };
  }

  async #inspected(listed: readonly Fields[], unread: { name: string; reason: string }[]): Promise<Inspected[]> {
    const found: Inspected[] = [];
    const waiting = listed.slice(0, MAX_CONTAINERS);
    for (const left of listed.slice(MAX_CONTAINERS)) {
      unread.push({ name: nameOf(left), reason: `only ${MAX_CONTAINERS} containers are read` });
    }
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const id = textOf(next["Id"]);
        try {
          const inspected = await this.#container(id);
          if (inspected) found.push(inspected);
          else unread.push({ name: nameOf(next), reason: "it was removed during the scan" });
        } catch (error) {
          if (!(error instanceof EngineRefusal)) throw error;
          unread.push({ name: nameOf(next), reason: plain(error.message) });
        }
        if (found.length % PROGRESS_EVERY === 0) this.#progress(`Read ${found.length} of ${listed.length} containers`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, listed.length) }, work));
    return found;
  }

  async #container(id: string): Promise<Inspected | undefined> {
    const container = await this.#known(`/containers/${encodeURIComponent(id)}/json`);
    if (!container) return undefined;
    const imageId = textOf(container["Image"]);
    let image = this.#images.get(imageId);
    if (!image) {
      image = imageId === "" ? Promise.resolve(undefined) : this.#image(imageId);
      this.#images.set(imageId, image);
    }
    return { container, image: await image };
  }

  /** Returns an image; `undefined` for one that the engine cannot describe, because its containers still run. */
  async #image(imageId: string): Promise<Fields | undefined> {
    try {
      return await this.#known(`/images/${encodeURIComponent(imageId)}/json`);
    } catch (error) {
      if (error instanceof EngineRefusal) return undefined;
      throw error;
    }
  }

  async #known(path: string): Promise<Fields | undefined> {
    try {
      return fieldsOf(await this.#get(path));
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  #get(path: string, query: Readonly<Record<string, boolean>> = {}): Promise<Loose> {
    return this.#engine.json<Loose>("GET", path, { query, ...(this.#signal && { signal: this.#signal }) });
  }
}

function runtimeOf(version: Fields): Inventory["runtime"] {
  const components = itemsOf(version["Components"]).map((item) => textOf(fieldsOf(item)["Name"]));
  const isPodman = components.some((name) => /podman/i.test(name));
  return { name: isPodman ? "podman" : "docker", version: textOf(version["Version"]).slice(0, 64) };
}

function volumeOf(item: Loose): FoundVolume {
  const volume = fieldsOf(item);
  return { name: textOf(volume["Name"]), driver: textOf(volume["Driver"]), labels: textFieldsOf(volume["Labels"]) };
}

function networkOf(item: Loose): FoundNetwork {
  const network = fieldsOf(item);
  return { name: textOf(network["Name"]), driver: textOf(network["Driver"]), labels: textFieldsOf(network["Labels"]) };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Shortens what an engine says, and removes control characters. */
function plain(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, " ").slice(0, LONGEST_REASON);
}

function nameOf(listed: Fields): string {
  return textsOf(listed["Names"])[0]?.replace(/^\//, "") ?? textOf(listed["Id"]);
}

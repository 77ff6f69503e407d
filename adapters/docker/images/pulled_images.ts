import { createHash } from "node:crypto";
import { dropName } from "./drop_image.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { namesOf } from "../engine/images.ts";
import { PREFIX } from "./image_names.ts";

interface ImageSummary {
  readonly Id: string;
  readonly RepoTags: readonly string[] | null;
  readonly RepoDigests: readonly string[] | null;
}

/** The repository whose tags mark the images that an installation pulled; it contains no project's images. */
export function pulledRepository(installation: string): string {
  const digest = createHash("sha256").update(`${installation} pulled`).digest("hex").slice(0, 32);
  return `${PREFIX}pulled.${digest}`;
}

/**
 * The images that this installation pulled to the engine, each marked by a tag of its own: a pulled image cannot be
 * labelled, and once its tag has moved to a newer image, nothing else distinguishes it from one that a user pulled by
 * digest.
 */
export class PulledImages {
  readonly #engine: EngineApi;
  readonly #repository: string;

  constructor(engine: EngineApi, installation: string) {
    this.#engine = engine;
    this.#repository = pulledRepository(installation);
  }

  /** Returns the ids of all images on the engine. An image that is listed before a pull was not brought by it. */
  async present(signal: AbortSignal): Promise<ReadonlySet<string>> {
    return new Set((await this.#images(signal)).map(({ Id }) => Id));
  }

  /** Marks an image as pulled by this installation. */
  async mark(image: string): Promise<void> {
    const query = { repo: this.#repository, tag: image.replace("sha256:", "") };
    await this.#engine.request("POST", `/images/${image}/tag`, { query });
  }

  /** Removes marked images that have no other tag, of a deployment or of anyone else, and that no container uses. */
  async removeUnused(): Promise<void> {
    for (const image of await this.#images()) {
      const [mark, ...others] = image.RepoTags ?? [];
      if (!mark?.startsWith(`${this.#repository}:`) || others.length > 0) continue;
      if (await this.#isUsed(image.Id)) continue;
      // The mark goes last: with it the engine removes the image, or refuses to while something still needs it.
      const digests = namesOf({ ...image, RepoTags: [] });
      for (const name of [...digests, mark]) await dropName(this.#engine, name);
    }
  }

  #images(signal?: AbortSignal): Promise<readonly ImageSummary[]> {
    return this.#engine.json<readonly ImageSummary[]>("GET", "/images/json", { ...(signal && { signal }) });
  }

  /** Whether a container was created from it, running or not. */
  async #isUsed(image: string): Promise<boolean> {
    const query = { all: "true", filters: JSON.stringify({ ancestor: [image] }) };
    return (await this.#engine.json<readonly unknown[]>("GET", "/containers/json", { query })).length > 0;
  }
}

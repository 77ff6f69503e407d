import { createHash } from "node:crypto";
import { dropName } from "./drop_image.ts";
import { listContainers } from "../engine/containers.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { listImages, namesOf, tagImage } from "../engine/images.ts";
import { PREFIX } from "./image_names.ts";

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
    return new Set((await listImages(this.#engine, {}, { signal })).map(({ Id }) => Id));
  }

  /** Marks an image as pulled by this installation. */
  async mark(image: string): Promise<void> {
    await tagImage(this.#engine, image, `${this.#repository}:${image.replace("sha256:", "")}`);
  }

  /** Removes marked images that have no other tag, of a deployment or of anyone else, and that no container uses. */
  async removeUnused(): Promise<void> {
    for (const image of await listImages(this.#engine)) {
      const [mark, ...others] = image.RepoTags ?? [];
      if (!mark?.startsWith(`${this.#repository}:`) || others.length > 0) continue;
      // Containers count whether they run or not.
      if ((await listContainers(this.#engine, { ancestor: [image.Id] })).length > 0) continue;
      // The mark goes last: with it the engine removes the image, or refuses to while something still needs it.
      const digests = namesOf({ ...image, RepoTags: [] });
      for (const name of [...digests, mark]) await dropName(this.#engine, name);
    }
  }
}

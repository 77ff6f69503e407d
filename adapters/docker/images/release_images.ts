import type { ImageOwner, ReleaseImage, ReleaseImages } from "../../../ports/deployments/release_images.ts";
import { dropName, dropNameless } from "./drop_image.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { inspectImage, listImages, tagImage } from "../engine/images.ts";
import { ImageArchive } from "./image_archive.ts";
import { ImageNames, LABELS, namePatterns, PREFIX } from "./image_names.ts";
import { withRefusalAsFailure } from "../engine/refusals.ts";
import { PulledImages } from "./pulled_images.ts";

export interface DockerReleaseImagesOptions {
  readonly engine: EngineApi;
  /** The owner of these images; images of other installations are never visible. */
  readonly installation: string;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** An image with the name that assigns it to this installation. */
interface NamedImage extends ReleaseImage {
  readonly name: string;
}

/** The images of one installation on a Docker Engine, identified by their names. */
export class DockerReleaseImages implements ReleaseImages {
  readonly #engine: EngineApi;
  readonly #installation: string;
  readonly #names: ImageNames;
  readonly #archive: ImageArchive;
  readonly #pulled: PulledImages;

  constructor({ engine, installation }: DockerReleaseImagesOptions) {
    this.#engine = engine;
    this.#installation = installation;
    this.#names = new ImageNames(installation);
    this.#archive = new ImageArchive({ engine, installation });
    this.#pulled = new PulledImages(engine, installation);
  }

  async find(deploymentId: string, service: string): Promise<ReleaseImage | undefined> {
    const found = await this.#images(namePatterns(deploymentId, service));
    return found.map(withoutName).find((each) => each.deploymentId === deploymentId && each.service === service);
  }

  async list(): Promise<readonly ReleaseImage[]> {
    return (await this.#images([`${PREFIX}*`])).map(withoutName);
  }

  async keep(image: string, owner: ImageOwner): Promise<boolean> {
    const name = this.#names.of(owner);
    if (!DIGEST.test(image)) return false;
    return withRefusalAsFailure("keep the image", async () => {
      const former = await inspectImage(this.#engine, name);
      if (former?.Id === image) return true;
      try {
        await tagImage(this.#engine, image, name);
      } catch (error) {
        if (error instanceof EngineRefusal && error.status === 404) return false;
        throw error;
      }
      if (former) await dropNameless(this.#engine, former.Id);
      return true;
    });
  }

  async remove(deploymentId: string): Promise<void> {
    const found = await this.#images(namePatterns(deploymentId));
    await withRefusalAsFailure("remove the image", async () => {
      // Engines differ in whether they also list the other names of an image that matches.
      const own = found.filter((each) => each.deploymentId === deploymentId);
      for (const { name } of own) await dropName(this.#engine, name);
    });
  }

  async trim(maxCacheBytes: number): Promise<void> {
    const filters = JSON.stringify({ dangling: ["true"], label: [`${LABELS.installation}=${this.#installation}`] });
    await withRefusalAsFailure("remove unused layers", async () => {
      await this.#archive.removeLeftovers();
      await this.#prune("/images/prune", { filters });
      await this.#pulled.removeUnused();
      if (maxCacheBytes === Number.POSITIVE_INFINITY) return;
      await this.#prune("/build/prune", { "keep-storage": Math.max(1, Math.floor(maxCacheBytes)) });
    });
  }

  archive(image: string, path: string): Promise<ReadableStream<Uint8Array>> {
    return withRefusalAsFailure("read the image", () => this.#archive.open(image, path));
  }

  /** Returns the images with a name of this installation that matches one of the patterns. */
  async #images(patterns: readonly string[]): Promise<NamedImage[]> {
    if (patterns.length === 0) return [];
    const found = await withRefusalAsFailure("list images", () => listImages(this.#engine, { reference: patterns }));
    return found.flatMap(({ Id, RepoTags, Size }) =>
      (RepoTags ?? []).flatMap((name) => {
        const owner = this.#names.ownerOf(name);
        return owner ? [{ ...owner, name, image: Id, bytes: Size }] : [];
      }),
    );
  }

  async #prune(path: string, query: Readonly<Record<string, string | number>>): Promise<void> {
    const timeoutMs = this.#engine.longAnswerMs;
    const answer = await this.#engine.request("POST", path, { query, timeoutMs }).catch((error: unknown) => {
      // Only one prune may run at a time, and the running one does the same work.
      if (error instanceof EngineRefusal && error.status === 409) return undefined;
      throw error;
    });
    await answer?.body?.cancel();
  }
}

function withoutName({ deploymentId, projectId, service, image, bytes }: NamedImage): ReleaseImage {
  return { deploymentId, projectId, service, image, bytes };
}

import type { ReleaseImage, ReleaseImages } from "../../ports/release_images.ts";
import { type EngineApi, EngineRefusal } from "./engine_api.ts";
import { ImageArchive } from "./image_archive.ts";
import { imageName, LABELS } from "./image_names.ts";
import { orRefused } from "./or_refused.ts";

export interface DockerReleaseImagesOptions {
  readonly engine: EngineApi;
  /** Whose images these are; those of others are never seen. */
  readonly installation: string;
}

interface ImageSummary {
  readonly Id: string;
  readonly RepoTags: readonly string[] | null;
  readonly Labels: Readonly<Record<string, string>> | null;
  readonly Size: number;
}

/** The images of one installation on a Docker Engine, known by their labels and names. */
export class DockerReleaseImages implements ReleaseImages {
  readonly #engine: EngineApi;
  readonly #installation: string;
  readonly #archive: ImageArchive;

  constructor({ engine, installation }: DockerReleaseImagesOptions) {
    this.#engine = engine;
    this.#installation = installation;
    this.#archive = new ImageArchive({ engine, installation });
  }

  async find(deploymentId: string): Promise<ReleaseImage | undefined> {
    const [found] = await this.#images([`${LABELS.deployment}=${deploymentId}`]);
    return found;
  }

  list(): Promise<readonly ReleaseImage[]> {
    return this.#images([]);
  }

  async remove(deploymentId: string): Promise<void> {
    const found = await this.find(deploymentId);
    if (!found) return;
    const name = imageName({ ...found, installation: this.#installation });
    await orRefused("remove the image", () => this.#removeNamed(name));
  }

  async trim(maxCacheBytes: number): Promise<void> {
    const filters = JSON.stringify({ dangling: ["true"], label: [`${LABELS.installation}=${this.#installation}`] });
    await orRefused("remove unused layers", async () => {
      await this.#archive.removeLeftovers();
      await this.#prune("/images/prune", { filters });
      if (maxCacheBytes === Number.POSITIVE_INFINITY) return;
      await this.#prune("/build/prune", { "keep-storage": Math.max(1, Math.floor(maxCacheBytes)) });
    });
  }

  archive(image: string, path: string): Promise<ReadableStream<Uint8Array>> {
    return orRefused("read the image", () => this.#archive.open(image, path));
  }

  /** What has these labels beside the installation's, and still the name that it was built under. */
  async #images(labels: readonly string[]): Promise<ReleaseImage[]> {
    const label = [`${LABELS.installation}=${this.#installation}`, ...labels];
    const query = { filters: JSON.stringify({ label }) };
    const found = await orRefused("list images", () =>
      this.#engine.json<readonly ImageSummary[]>("GET", "/images/json", { query }),
    );
    return found.flatMap(({ Id, RepoTags, Labels, Size }) => {
      const deploymentId = Labels?.[LABELS.deployment];
      const projectId = Labels?.[LABELS.project];
      if (deploymentId === undefined || projectId === undefined) return [];
      const name = imageName({ installation: this.#installation, projectId, deploymentId });
      const isKept = RepoTags?.includes(name) ?? false;
      return isKept ? [{ deploymentId, projectId, image: Id, bytes: Size }] : [];
    });
  }

  async #removeNamed(name: string): Promise<void> {
    try {
      await this.#engine.request("DELETE", `/images/${name}`, { timeoutMs: null });
    } catch (error) {
      const isGoneOrInUse = error instanceof EngineRefusal && (error.status === 404 || error.status === 409);
      if (!isGoneOrInUse) throw error;
    }
  }

  async #prune(path: string, query: Readonly<Record<string, string | number>>): Promise<void> {
    const answer = await this.#engine.request("POST", path, { query, timeoutMs: null }).catch((error: unknown) => {
      // Only one may prune at a time; whoever does is doing it already.
      if (error instanceof EngineRefusal && error.status === 409) return undefined;
      throw error;
    });
    await answer?.body?.cancel();
  }
}

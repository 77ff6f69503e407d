import { TAR_END, tarHead, tarPadding } from "../../domain/archive/tar_writer.ts";
import { Failure, invalid } from "../../domain/failure.ts";
import type { ImageOwner, ReleaseImage, ReleaseImages } from "../../ports/deployments/release_images.ts";

const BYTES = 1_000;

/** Keeps simulated images that only have a digest and some files. */
export class MemoryReleaseImages implements ReleaseImages {
  /** The files of each image, by digest and then by absolute path. May be changed at any time. */
  readonly files = new Map<string, ReadonlyMap<string, string>>();
  /** Digests of images that a container uses. */
  readonly inUse = new Set<string>();
  /**
   * Tags that others gave to images on the engine, such as `postgres:16`, with their digests. A tagged image exists
   * even if no release keeps it.
   */
  readonly named = new Map<string, string>();
  /** Digests of images that were pulled for this installation. */
  readonly pulled = new Set<string>();
  /** Digests of images on the engine without a tag. */
  readonly nameless = new Set<string>();
  /** The cache limit of every `trim` call so far. */
  readonly trims: number[] = [];
  /** Whether the engine is available. */
  answers = true;
  readonly #images = new Map<string, ReleaseImage>();

  /** Keeps an image that was just built. */
  put(image: string, { deploymentId, projectId, service }: ImageOwner): void {
    this.#images.set(key(deploymentId, service), { deploymentId, projectId, service, image, bytes: BYTES });
  }

  /** Returns whether an image is on the engine. */
  has(image: string): boolean {
    return this.#isNamed(image) || this.nameless.has(image);
  }

  async find(deploymentId: string, service: string): Promise<ReleaseImage | undefined> {
    this.mustAnswer();
    return this.#images.get(key(deploymentId, service));
  }

  async list(): Promise<readonly ReleaseImage[]> {
    this.mustAnswer();
    return [...this.#images.values()];
  }

  async keep(image: string, owner: ImageOwner): Promise<boolean> {
    this.mustAnswer();
    const isThere = this.has(image);
    if (isThere) this.put(image, owner);
    return isThere;
  }

  async remove(deploymentId: string): Promise<void> {
    this.mustAnswer();
    const own = [...this.#images].filter(([, image]) => image.deploymentId === deploymentId);
    for (const [at, image] of own) {
      this.#images.delete(at);
      // Keeps the last tag of an image in use.
      if (this.inUse.has(image.image) && !this.has(image.image)) this.#images.set(at, image);
    }
  }

  async trim(maxCacheBytes: number): Promise<void> {
    this.mustAnswer();
    this.trims.push(maxCacheBytes);
    for (const image of this.nameless) {
      if (this.pulled.has(image) && !this.#isNamed(image) && !this.inUse.has(image)) this.nameless.delete(image);
    }
  }

  async archive(image: string, path: string): Promise<ReadableStream<Uint8Array>> {
    this.mustAnswer();
    const folder = path.replace(/\/+$/, "");
    const below = [...(this.files.get(image) ?? [])].filter(([file]) => file.startsWith(`${folder}/`));
    if (below.length === 0) throw invalid("output_missing", `Cannot take ${path} out of the image: it is not there`);
    const parent = folder.slice(0, folder.lastIndexOf("/") + 1);
    const pieces = [...below.flatMap(([file, text]) => packed(file.slice(parent.length), text)), TAR_END];
    return new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
  }

  #isNamed(image: string): boolean {
    return [...this.named.values(), ...[...this.#images.values()].map((each) => each.image)].includes(image);
  }

  /** Throws while the engine is unavailable. */
  mustAnswer(): void {
    if (!this.answers) throw new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
  }
}

function key(deploymentId: string, service: string): string {
  return `${deploymentId} ${service}`;
}

function packed(name: string, text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const head = tarHead({ name, kind: "file", size: bytes.length, mode: 0o644, modifiedMs: 0 });
  return [head, bytes, tarPadding(bytes.length)];
}

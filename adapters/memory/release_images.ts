import { TAR_END, tarHead, tarPadding } from "../../domain/archive/tar_writer.ts";
import { Failure, invalid } from "../../domain/failure.ts";
import type { ReleaseImage, ReleaseImages } from "../../ports/release_images.ts";

/** Keeps images that are nothing but a digest and some files. */
export class MemoryReleaseImages implements ReleaseImages {
  /** The files of each image, by its digest and then by absolute path; may be changed at any time. */
  readonly files = new Map<string, ReadonlyMap<string, string>>();
  /** Digests of images that something runs. */
  readonly inUse = new Set<string>();
  /** How often unused layers were removed, and what the cache was allowed. */
  readonly trims: number[] = [];
  /** Whether there is an engine. */
  answers = true;
  readonly #images = new Map<string, ReleaseImage>();

  /** Keeps an image under its deployment; one that was there is replaced. */
  keep(image: ReleaseImage): void {
    this.#images.set(image.deploymentId, image);
  }

  async find(deploymentId: string): Promise<ReleaseImage | undefined> {
    this.#mustAnswer();
    return this.#images.get(deploymentId);
  }

  async list(): Promise<readonly ReleaseImage[]> {
    this.#mustAnswer();
    return [...this.#images.values()];
  }

  async remove(deploymentId: string): Promise<void> {
    this.#mustAnswer();
    const image = this.#images.get(deploymentId);
    if (image !== undefined && !this.inUse.has(image.image)) this.#images.delete(deploymentId);
  }

  async trim(maxCacheBytes: number): Promise<void> {
    this.#mustAnswer();
    this.trims.push(maxCacheBytes);
  }

  async archive(image: string, path: string): Promise<ReadableStream<Uint8Array>> {
    this.#mustAnswer();
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

  #mustAnswer(): void {
    if (!this.answers) throw new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
  }
}

function packed(name: string, text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const head = tarHead({ name, kind: "file", size: bytes.length, mode: 0o644, modifiedMs: 0 });
  return [head, bytes, tarPadding(bytes.length)];
}

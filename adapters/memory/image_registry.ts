import { Failure, invalid } from "../../domain/failure.ts";
import { imageReference } from "../../domain/image/image_reference.ts";
import type { BuiltImage } from "../../ports/deployments/image_builder.ts";
import type { ImageRegistry, PullRequest } from "../../ports/deployments/image_registry.ts";
import type { MemoryReleaseImages } from "./release_images.ts";

/** Simulated images that only have a digest, and the registries that serve them. */
export class MemoryImageRegistry implements ImageRegistry {
  /** Images in registries, by reference. May be changed at any time. */
  readonly known: Map<string, BuiltImage>;
  /** Error messages of the registry, by reference. */
  readonly fails = new Map<string, string>();
  /** References whose registry never responds. */
  readonly hangs = new Set<string>();
  /** Every request so far. */
  readonly requests: PullRequest[] = [];
  /** Every reference that was requested from a registry. */
  readonly asked: string[] = [];
  /** References whose registry is unreachable. */
  readonly unreachable = new Set<string>();
  /** Whether the engine is available. */
  answers = true;
  readonly #images: MemoryReleaseImages;
  readonly #ports = new Map<string, number | null>();

  constructor(images: MemoryReleaseImages, known: Readonly<Record<string, BuiltImage>> = {}) {
    this.#images = images;
    this.known = new Map(Object.entries(known));
  }

  async fetch(request: PullRequest): Promise<BuiltImage> {
    const { owner, signal } = request;
    this.requests.push(request);
    signal.throwIfAborted();
    const reference = imageReference(request.reference);
    if (!reference) throw missing(request.reference, "that is not an image name");
    if (!this.answers) throw new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
    if (reference.name.startsWith("slipway/")) throw foreign(reference.full);
    const image = reference.registry === null ? reference.full : await this.#brought(request, reference.full);
    if (reference.registry === null) await this.#mustBeOwn(image, owner.projectId);
    signal.throwIfAborted();
    await request.confirm?.();
    if (!(await this.#images.keep(image, owner))) throw missing(reference.full, "it is not on this machine");
    return { image, port: this.#ports.get(image) ?? null };
  }

  /** Returns the digest of the image, pulled according to the pull policy. */
  async #brought({ reference, pull, signal, log }: PullRequest, name: string): Promise<string> {
    const here = this.#images.named.get(name);
    if (here !== undefined && pull !== "always") return here;
    if (pull === "never") throw missing(name, "it is not on this machine and must not be pulled");
    this.asked.push(name);
    await log(`Pulling ${name}`, "stdout");
    if (this.hangs.has(name)) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    signal.throwIfAborted();
    const words = this.fails.get(name);
    if (words !== undefined) throw missing(name, words);
    const isReachable = !this.unreachable.has(name);
    if (!isReachable && here !== undefined) {
      await log(`Cannot check the registry for ${name} (no answer); using the local one`, "stderr");
      return here;
    }
    const found = isReachable ? (this.known.get(name) ?? this.known.get(reference)) : undefined;
    if (!found) throw missing(name, isReachable ? "there is none" : "no answer");
    if (!this.#images.has(found.image)) this.#images.pulled.add(found.image);
    if (here !== undefined && here !== found.image) this.#images.nameless.add(here);
    this.#images.named.set(name, found.image);
    this.#ports.set(found.image, found.port);
    await log(`Pulled ${name}: nothing new`, "stdout");
    return found.image;
  }

  async #mustBeOwn(image: string, projectId: string): Promise<void> {
    if ([...this.#images.named.values()].includes(image)) return;
    const kept = (await this.#images.list()).filter((each) => each.image === image);
    if (kept.length > 0 && !kept.some((each) => each.projectId === projectId)) throw foreign(image);
  }
}

function missing(name: string, why: string): Failure {
  return invalid("image_missing", `Cannot get the image ${name}: ${why}`);
}

function foreign(name: string): Failure {
  return invalid("image_foreign", `Cannot use the image ${name}: it belongs to another project`);
}

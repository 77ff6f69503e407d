import { shown } from "../../../domain/archive/refusal.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import { type ImageReference, imageReference } from "../../../domain/image/image_reference.ts";
import type { BuiltImage } from "../../../ports/deployments/image_builder.ts";
import type { ImageRegistry, PullRequest } from "../../../ports/deployments/image_registry.ts";
import type { ReleaseImages } from "../../../ports/deployments/release_images.ts";
import type { EngineApi } from "../engine/engine_api.ts";
import { exposedPort, type FoundImage, inspectImage, namesOf } from "../engine/images.ts";
import { ImageNames, PREFIX } from "./image_names.ts";
import { pullImage } from "./image_pull.ts";
import { withRefusalAsFailure } from "../engine/refusals.ts";
import { PulledImages } from "./pulled_images.ts";
import { plainReason, pullFailure, pullProblem } from "./pull_failure.ts";

/** How long a registry may stay silent; large layers arrive in chunks, each of which counts. */
const STALL_MS = 120_000;

export interface DockerImageRegistryOptions {
  readonly engine: EngineApi;
  readonly installation: string;
  /** Keeps the fetched images. */
  readonly images: Pick<ReleaseImages, "keep">;
  readonly stallMs?: number;
  /** Rejects for a registry host that must not be connected to. */
  readonly checkHost?: (host: string) => Promise<unknown>;
}

interface Brought {
  readonly found: FoundImage;
  readonly isNew: boolean;
}

/** Brings images to a Docker Engine, which contacts the registries itself. */
export class DockerImageRegistry implements ImageRegistry {
  readonly #engine: EngineApi;
  readonly #names: ImageNames;
  readonly #pulled: PulledImages;
  readonly #options: DockerImageRegistryOptions;

  constructor(options: DockerImageRegistryOptions) {
    this.#engine = options.engine;
    this.#names = new ImageNames(options.installation);
    this.#pulled = new PulledImages(options.engine, options.installation);
    this.#options = options;
  }

  fetch(request: PullRequest): Promise<BuiltImage> {
    return withRefusalAsFailure("get the image", () => this.#fetch(request));
  }

  async #fetch(request: PullRequest): Promise<BuiltImage> {
    const { owner, signal } = request;
    signal.throwIfAborted();
    const reference = imageReference(request.reference);
    if (!reference) {
      const sentence = `Cannot get the image ${shown(request.reference)}: that is not an image name; use one such as postgres:16`;
      throw invalid("image_missing", sentence);
    }
    const own = this.#names.repository(owner.projectId);
    const isForeign = (name: string) => name.startsWith(PREFIX) && name.split(/[:@]/)[0] !== own;
    if (isForeign(reference.name)) throw foreign(reference);
    const isPulled = reference.registry !== null && reference.name !== own;
    const { found, isNew } = await this.#brought(request, reference, isPulled);
    // Also refuses an image without any name, which is left over from a build.
    if (namesOf(found).every(isForeign)) throw foreign(reference);
    signal.throwIfAborted();
    await request.confirm?.();
    if (!(await this.#options.images.keep(found.Id, owner))) throw gone(reference);
    // Marks it only after its owner keeps it, so that no cleanup removes it in between.
    if (isNew) await this.#pulled.mark(found.Id);
    return { image: found.Id, port: exposedPort(found) };
  }

  /** Returns the image, pulled if requested and possible, and whether it is new to the engine. */
  async #brought(request: PullRequest, reference: ImageReference, isPulled: boolean): Promise<Brought> {
    const { pull, log, signal } = request;
    const here = await this.#image(reference, request);
    if (!isPulled || pull === "never" || (pull === "missing" && here)) {
      if (here) return { found: here, isNew: false };
      const why = isPulled ? "and must not be pulled; use another pullPolicy, or pull it there" : "any more";
      throw invalid("image_missing", `Cannot get the image ${reference.full}: it is not on this machine ${why}`);
    }
    const present = await this.#pulled.present(signal);
    const words = await this.#pull(request, reference);
    if (words !== undefined) {
      if (!here || pullProblem(words) !== "unanswered") throw pullFailure(reference.full, words);
      await log(
        `Cannot check the registry for ${reference.full} (${plainReason(words)}); using the local one`,
        "stderr",
      );
      return { found: here, isNew: false };
    }
    const found = await this.#image(reference, request);
    if (!found) throw gone(reference);
    return { found, isNew: !present.has(found.Id) };
  }

  async #pull(request: PullRequest, reference: ImageReference): Promise<string | undefined> {
    const { stallMs = STALL_MS, checkHost } = this.#options;
    await checkHost?.(reference.registry!.replace(/:\d+$/, ""));
    await request.log(`Pulling ${reference.full}`, "stdout");
    return pullImage({ engine: this.#engine, reference, request, stallMs });
  }

  #image({ full }: ImageReference, { signal }: PullRequest): Promise<FoundImage | undefined> {
    return inspectImage(this.#engine, full, { signal });
  }
}

function foreign({ full }: ImageReference): Failure {
  const sentence = `Cannot use the image ${full}: it belongs to another project; use one that has a name of its own`;
  return invalid("image_foreign", sentence);
}

function gone({ full }: ImageReference): Failure {
  return invalid("image_missing", `Cannot get the image ${full}: it was removed from this machine; deploy again`);
}

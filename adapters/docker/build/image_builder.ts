import type {
  BuiltImage,
  ImageBuilder,
  ImageBuildInput,
  ImageRequest,
} from "../../../ports/deployments/image_builder.ts";
import { type BuildContext, buildContext } from "./build_context.ts";
import { buildkitBuild } from "./buildkit_build.ts";
import { classicBuild } from "./classic_build.ts";
import { ContentTimes } from "./content_times.ts";
import { contextDigest } from "./context_digest.ts";
import { dropName } from "../images/drop_image.ts";
import { away, type EngineApi } from "../engine/engine_api.ts";
import { exposedPort, type FoundImage, inspectImage } from "../engine/images.ts";
import { ImageNames, LABELS } from "../images/image_names.ts";
import { withRefusalAsFailure } from "../engine/refusals.ts";
import { DockerReleaseImages } from "../images/release_images.ts";

/** The build argument by which BuildKit tells apart the cache mounts of Dockerfiles with the same ids. */
const CACHE_NAMESPACE = "BUILDKIT_CACHE_MOUNT_NS";

/** Resource limits of a build; the classic builder enforces them, BuildKit has no such limits. */
export interface BuildLimits {
  readonly memoryBytes?: number;
  readonly cpus?: number;
}

export interface DockerImageBuilderOptions {
  readonly engine: EngineApi;
  /** The owner of these images; several installations may share one engine. */
  readonly installation: string;
  readonly limits?: BuildLimits;
  /** Defaults to BuildKit if the engine has it. */
  readonly builder?: "buildkit" | "classic";
}

/** Builds images with a Docker Engine, using BuildKit if the engine has it. */
export class DockerImageBuilder implements ImageBuilder {
  readonly #engine: EngineApi;
  readonly #options: DockerImageBuilderOptions;
  readonly #names: ImageNames;
  readonly #images: DockerReleaseImages;
  readonly #times = new ContentTimes();

  constructor(options: DockerImageBuilderOptions) {
    this.#engine = options.engine;
    this.#options = options;
    this.#names = new ImageNames(options.installation);
    this.#images = new DockerReleaseImages(options);
  }

  async features(): Promise<{ readonly mounts: boolean }> {
    return { mounts: (await this.#builder()) === "buildkit" };
  }

  build(request: ImageRequest): Promise<BuiltImage> {
    return withRefusalAsFailure("build an image", () => this.#build(request));
  }

  async identify({ target, args, ...given }: ImageBuildInput): Promise<string> {
    return contextDigest(await buildContext(given), { args, ...(target !== undefined && { target }) });
  }

  async #build(request: ImageRequest): Promise<BuiltImage> {
    const { signal } = request;
    signal.throwIfAborted();
    const context = await buildContext(request);
    // A unique name: a worker that takes over the deployment may build the same, and this build may finish after it.
    const name = this.#names.ofBuild(request);
    try {
      const built = await this.#image(await this.#run(request, context, name));
      if (!built) throw away("the image disappeared right after it was built");
      await request.confirm?.();
      signal.throwIfAborted();
      if (!(await this.#images.keep(built.Id, request))) throw away("the image disappeared right after it was built");
      return { image: built.Id, port: exposedPort(built) };
    } finally {
      // Removes the image of an interrupted build, or of one aborted at the very end, with its only name.
      await dropName(this.#engine, name).catch(() => {});
    }
  }

  async #run(request: ImageRequest, context: BuildContext, name: string): Promise<string> {
    const { engine, limits } = this.#options;
    if ((await this.#builder()) === "classic") {
      return classicBuild({ engine, request, context, query: this.#query(request, name), ...limits });
    }
    const { args, cacheKey = request.projectId } = request;
    const contextKey = await this.#contextKey(cacheKey);
    const isApart = cacheKey !== request.projectId;
    const own = isApart ? new Map([...args, [CACHE_NAMESPACE, contextKey]]) : args;
    const query = {
      ...this.#query({ ...request, args: own }, name),
      // A host that nothing uses: BuildKit runs commands again whose hosts differ, and so finds no layer that was made
      // with the secrets of other builds, which do not count.
      ...(isApart && { extrahosts: `slipway-${contextKey.slice(0, 32)}:127.0.0.1` }),
    };
    return buildkitBuild({ engine, request, context, query, contextKey, times: this.#times.of(contextKey) });
  }

  #image(name: string): Promise<FoundImage | undefined> {
    return inspectImage(this.#engine, name);
  }

  #query({ deploymentId, projectId, args, target }: ImageRequest, name: string) {
    const labels = {
      [LABELS.installation]: this.#options.installation,
      [LABELS.project]: projectId,
      [LABELS.deployment]: deploymentId,
    };
    return {
      t: name,
      labels: JSON.stringify(labels),
      buildargs: JSON.stringify(Object.fromEntries(args)),
      target,
    };
  }

  async #builder(): Promise<"buildkit" | "classic"> {
    if (this.#options.builder) return this.#options.builder;
    const { headers } = await this.#engine.request("GET", "/_ping");
    const version = headers.get("builder-version");
    if (version) return version === "2" ? "buildkit" : "classic";
    // Engines since 18.09 have BuildKit without reporting it; imitations identify themselves.
    const [, minor = 0] = (headers.get("api-version") ?? "").split(".").map(Number);
    return headers.get("server")?.startsWith("Docker/") && headers.get("ostype") === "linux" && minor >= 39
      ? "buildkit"
      : "classic";
  }

  /** Returns the key under which the engine caches the files it was last sent. */
  async #contextKey(cacheKey: string): Promise<string> {
    const text = new TextEncoder().encode(`${this.#options.installation} ${cacheKey}`);
    return Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("hex");
  }
}

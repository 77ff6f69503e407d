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
import { exposedPort, type FoundImage } from "../images/found_image.ts";
import { ImageNames, LABELS } from "../images/image_names.ts";
import { orRefused } from "../engine/or_refused.ts";
import { DockerReleaseImages } from "../images/release_images.ts";

/** What a build may use; the classic builder keeps to it, BuildKit has no such limits. */
export interface BuildLimits {
  readonly memoryBytes?: number;
  readonly cpus?: number;
}

export interface DockerImageBuilderOptions {
  readonly engine: EngineApi;
  /** Whose images these are; several installations may use one engine. */
  readonly installation: string;
  readonly limits?: BuildLimits;
  /** The builder to use; BuildKit where the engine has it unless told. */
  readonly builder?: "buildkit" | "classic";
}

/** Builds images with a Docker Engine, by BuildKit where it has it. */
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
    return orRefused("build an image", () => this.#build(request));
  }

  async identify({ target, args, ...given }: ImageBuildInput): Promise<string> {
    return contextDigest(await buildContext(given), { args, ...(target !== undefined && { target }) });
  }

  async #build(request: ImageRequest): Promise<BuiltImage> {
    const { signal } = request;
    signal.throwIfAborted();
    const context = await buildContext(request);
    // Whoever goes on with the deployment may be building the same, and the engine may end this build after that one.
    const name = this.#names.ofBuild(request);
    try {
      const built = await this.#image(await this.#run(request, context, name));
      if (!built) throw away("the image is gone as soon as it was built");
      await request.confirm?.();
      signal.throwIfAborted();
      if (!(await this.#images.keep(built.Id, request))) throw away("the image is gone as soon as it was built");
      return { image: built.Id, port: exposedPort(built) };
    } finally {
      // What was broken off, and what was aborted when all was done but the last word, goes with its only name.
      await dropName(this.#engine, name).catch(() => {});
    }
  }

  async #run(request: ImageRequest, context: BuildContext, name: string): Promise<string> {
    const { engine, limits } = this.#options;
    const query = this.#query(request, name);
    if ((await this.#builder()) === "classic") return classicBuild({ engine, request, context, query, ...limits });
    const contextKey = await this.#contextKey(request.projectId);
    return buildkitBuild({ engine, request, context, query, contextKey, times: this.#times.of(contextKey) });
  }

  #image(name: string): Promise<FoundImage | undefined> {
    return this.#engine.known<FoundImage>("GET", `/images/${name}/json`);
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
    const told = headers.get("builder-version");
    if (told) return told === "2" ? "buildkit" : "classic";
    // Engines since 18.09 have it without telling; those that only look like one tell who they are.
    const [, minor = 0] = (headers.get("api-version") ?? "").split(".").map(Number);
    return headers.get("server")?.startsWith("Docker/") && headers.get("ostype") === "linux" && minor >= 39
      ? "buildkit"
      : "classic";
  }

  /** The engine keeps the files it was last given under this key. */
  async #contextKey(projectId: string): Promise<string> {
    const text = new TextEncoder().encode(`${this.#options.installation} ${projectId}`);
    return Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("hex");
  }
}

import { chmod, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dropName } from "../../../adapters/docker/images/drop_image.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder, type DockerImageBuilderOptions } from "../../../adapters/docker/build/image_builder.ts";
import { pulledRepository } from "../../../adapters/docker/images/pulled_images.ts";
import { DockerReleaseImages } from "../../../adapters/docker/images/release_images.ts";
import type { ImageOwner } from "../../../ports/deployments/release_images.ts";
import { type ContextFiles, imageRequest } from "../../contracts/image_builder.ts";
import { run } from "../runner/command.ts";
import { DOCKER_HOST, tinyImage } from "./docker_world.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

/** The base image of the tests' images; `tinyImage()` builds it. */
export const BASE = "slipway-test-tiny";

/** A file tree to write: a string is a file, an object is a symlink with its target or a file with its mode. */
export type Tree = Readonly<Record<string, ContextFiles[string] | Uint8Array>>;

/** An image builder with its own installation id. */
export interface DockerImages extends AsyncDisposable {
  readonly installation: string;
  readonly builder: DockerImageBuilder;
  readonly images: DockerReleaseImages;
  /** Writes a tree into a new folder and returns its path. */
  folder(tree: Tree): Promise<string>;
  /** Builds an image that contains only these files, given by absolute path. */
  make(
    ids: Pick<ImageOwner, "deploymentId" | "projectId"> & Partial<ImageOwner>,
    files?: Readonly<Record<string, string>>,
  ): Promise<string>;
  /** Returns whether the engine has an image. */
  isThere(image: string): Promise<boolean>;
  /** Creates a container from an image, which keeps the image in use until disposed. */
  use(image: string): Promise<AsyncDisposable>;
}

/** Opens a builder. Disposal removes every image of its installation and every folder. */
export async function dockerImages(
  options: Partial<DockerImageBuilderOptions> = {},
  dockerHost = DOCKER_HOST,
): Promise<DockerImages> {
  await tinyImage();
  const opened = new AsyncDisposableStack();
  const installation = `test-${crypto.randomUUID()}`;
  const { engine = new EngineApi(dockerHost) } = options;
  const builder = new DockerImageBuilder({ installation, ...options, engine });
  const images = new DockerReleaseImages({ engine, installation });
  opened.defer(async () => {
    for (const { deploymentId } of await images.list()) await images.remove(deploymentId);
    const marks = JSON.stringify({ reference: [`${pulledRepository(installation)}:*`] });
    const marked = await engine.json<readonly { Id: string }[]>("GET", "/images/json", { query: { filters: marks } });
    for (const { Id } of marked)
      await dropName(engine, `${pulledRepository(installation)}:${Id.slice("sha256:".length)}`);
    const filters = JSON.stringify({ dangling: ["true"], label: [`slipway.installation=${installation}`] });
    // Another test may be pruning at the same time, for its own installation.
    await engine.json("POST", "/images/prune", { query: { filters } }).catch(() => {});
  });
  const folder = async (tree: Tree) => {
    const path = await writtenTree(tree);
    opened.defer(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  return {
    installation,
    builder,
    images,
    folder,
    async make(ids, files = { "/file": "content" }) {
      const tree = Object.fromEntries(Object.entries(files).map(([path, text]) => [path.slice(1), text]));
      const source = { folder: await folder(tree), dockerfile: { text: "FROM scratch\nCOPY . /\n" } };
      return (await builder.build(imageRequest(source, ids))).image;
    },
    isThere: async (image) => (await engine.known("GET", `/images/${image}/json`)) !== undefined,
    async use(image) {
      const docker = ["docker", "--host", dockerHost];
      const { output } = await run([...docker, "create", "--label", `${TEST_LABEL}=1`, image, "sleep"]);
      return {
        async [Symbol.asyncDispose]() {
          await run([...docker, "rm", "--force", output.trim()]);
        },
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Writes a tree into a new temporary folder. */
export async function writtenTree(tree: Tree): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  for (const [path, content] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    if (typeof content === "string" || content instanceof Uint8Array) await Bun.write(join(folder, path), content);
    else if ("link" in content) await symlink(content.link, join(folder, path));
    else {
      await Bun.write(join(folder, path), content.text);
      await chmod(join(folder, path), content.mode);
    }
  }
  return folder;
}

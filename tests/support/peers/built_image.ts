import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../../../adapters/docker/build/image_builder.ts";
import { Secret } from "../../../domain/secret.ts";
import type { BuiltImage } from "../../../ports/deployments/image_builder.ts";
import { run } from "../runner/command.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

const WITHIN = 300_000;
const LABEL = `${TEST_LABEL}=built`;

/** Options of an image build. */
export interface ImageOptions {
  readonly files: Iterable<readonly [path: string, content: string | Uint8Array]>;
  /** Returns the Dockerfile for a builder with or without mounts. */
  dockerfile(mounts: boolean): string;
  readonly builder?: "buildkit" | "classic";
  readonly secrets?: ReadonlyMap<string, string>;
}

/** Builds an image as a deployment does. `removeBuiltImages()` finds it by its label. */
export async function builtImage(options: ImageOptions): Promise<BuiltImage & { readonly log: string }> {
  const { files, builder, secrets = new Map() } = options;
  const engine = new EngineApi(process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock");
  const images = new DockerImageBuilder({ engine, installation: "test", ...(builder && { builder }) });
  const text = options.dockerfile((await images.features()).mounts);
  const folder = await mkdtemp(join(tmpdir(), "slipway-image-"));
  const lines: string[] = [];
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const image = await images.build({
      deploymentId: `dep_${crypto.randomUUID()}`,
      projectId: "prj_1",
      service: "app",
      folder,
      dockerfile: { text: text.replaceAll(/^FROM .*$/gm, `$&\nLABEL ${LABEL}`) },
      args: new Map(),
      secrets: new Map([...secrets].map(([name, value]) => [name, new Secret(value)])),
      signal: AbortSignal.timeout(WITHIN),
      log: (line) => void lines.push(line),
    });
    return { ...image, log: lines.join("\n") };
  } catch (error) {
    throw new Error(lines.slice(-20).join("\n"), { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes all images that tests have built, and the leftover stages of the classic builder. */
export async function removeBuiltImages(): Promise<void> {
  const label = ["--filter", `label=${LABEL}`];
  const names = await run(["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", ...label]);
  const tagged = names.output.split("\n").filter((name) => name !== "" && !name.endsWith("<none>"));
  if (tagged.length > 0) await run(["docker", "image", "rm", "--force", ...tagged]);
  await run(["docker", "image", "prune", "--force", ...label]);
}

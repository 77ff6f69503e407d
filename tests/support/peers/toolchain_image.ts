import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseImages, baseImageEntry } from "../../../domain/image/base_images.ts";
import { run, say } from "../runner/command.ts";

const DOCKERFILE = new URL("../../images/toolchains/Dockerfile", import.meta.url).pathname;
const NAME = "slipway-test-toolchains";
const BUILD_WITHIN = 600_000;

/**
 * The image with all toolchains that replaces every base image, built if it does not exist. `BASE_IMAGES` set to `*=`
 * and this tag uses it.
 */
export async function toolchainImage(): Promise<string> {
  const dockerfile = await readFile(DOCKERFILE, "utf8");
  // Behind a TLS-intercepting proxy, its CA certificate is here; registries are unreachable without it.
  const trusted = process.env["NODE_EXTRA_CA_CERTS"] ?? process.env["SSL_CERT_FILE"];
  const authorities = trusted ? await readFile(trusted, "utf8").catch(() => "") : "";
  const content = new Bun.CryptoHasher("sha256").update([dockerfile, authorities, Bun.version].join("\0"));
  const image = `${NAME}:${content.digest("hex").slice(0, 12)}`;
  if ((await run(["docker", "image", "inspect", image])).ok) return image;
  say("Building the image of all languages …");
  const context = await mkdtemp(join(tmpdir(), "slipway-toolchains-"));
  try {
    await writeFile(join(context, "Dockerfile"), dockerfile);
    await writeFile(join(context, "ca.crt"), authorities);
    await copyFile(process.execPath, join(context, "bun"));
    const built = await run(["docker", "build", "--tag", image, context], {
      timeout: BUILD_WITHIN,
      environment: { DOCKER_BUILDKIT: "1" },
    });
    if (!built.ok) throw new Error(`Cannot build ${image}: ${built.lastLine}`);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
  return image;
}

/** The operator's mapping that replaces every Docker Hub image with this one. */
export function allFrom(image: string): BaseImages {
  return [baseImageEntry(`*=${image}`)!];
}

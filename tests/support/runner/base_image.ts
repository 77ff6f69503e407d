import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, say } from "./command.ts";

/** The base image of all test images. */
export const BASE_IMAGE = "debian:bookworm-slim";

/**
 * Ensures that an engine has the base image: pulls it, or builds it from Debian packages if no registry is reachable.
 */
export async function baseImage(
  host = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock",
  tag = BASE_IMAGE,
): Promise<void> {
  const docker = (...words: readonly string[]) => run(["docker", "--host", host, ...words], { timeout: 120_000 });
  if ((await docker("image", "inspect", tag)).ok) return;
  say(`Pulling ${tag} …`);
  if ((await docker("pull", "--quiet", tag)).ok) return;
  say(`Building ${tag} from Debian packages …`);
  const folder = await mkdtemp(join(tmpdir(), "slipway-base-"));
  try {
    const built = await run(["debootstrap", "--variant=minbase", "bookworm", folder]);
    if (!built.ok) throw new Error(`Cannot build ${tag}: ${built.lastLine}`);
    await piped(["tar", "-C", folder, "-c", "."], ["docker", "--host", host, "import", "-", tag]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies an image from one engine to another, unless that has one of its name. */
export async function copyImage(
  { from, to }: { readonly from: string; readonly to: string },
  tag = BASE_IMAGE,
): Promise<void> {
  if ((await run(["docker", "--host", to, "image", "inspect", tag])).ok) return;
  await piped(["docker", "--host", from, "save", tag], ["docker", "--host", to, "load"]);
}

async function piped(from: readonly string[], into: readonly string[]): Promise<void> {
  const giver = Bun.spawn([...from], { env: process.env, stdio: ["ignore", "pipe", "inherit"] });
  const taker = Bun.spawn([...into], { env: process.env, stdio: [giver.stdout, "ignore", "inherit"] });
  const codes = await Promise.all([giver.exited, taker.exited]);
  if (codes.some((code) => code !== 0)) throw new Error(`Cannot run ${from.join(" ")} into ${into.join(" ")}`);
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, say } from "./command.ts";

/** What every image of the tests is built on. */
export const BASE_IMAGE = "debian:bookworm-slim";

/** Makes sure the base image is there: pulled, or put together from packages where no registry answers. */
export async function baseImage(tag = BASE_IMAGE): Promise<void> {
  if ((await run(["docker", "image", "inspect", tag])).ok) return;
  say(`Pulling ${tag} …`);
  if ((await run(["docker", "pull", "--quiet", tag], { timeout: 120_000 })).ok) return;
  say(`Building ${tag} from Debian packages …`);
  const folder = await mkdtemp(join(tmpdir(), "slipway-base-"));
  try {
    const built = await run(["debootstrap", "--variant=minbase", "bookworm", folder]);
    if (!built.ok) throw new Error(`Cannot build ${tag}: ${built.lastLine}`);
    await importFolder(folder, tag);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function importFolder(folder: string, tag: string): Promise<void> {
  const archive = Bun.spawn(["tar", "-C", folder, "-c", "."], { stdio: ["ignore", "pipe", "inherit"] });
  const imported = Bun.spawn(["docker", "import", "-", tag], { stdio: [archive.stdout, "ignore", "inherit"] });
  const codes = await Promise.all([archive.exited, imported.exited]);
  if (codes.some((code) => code !== 0)) throw new Error(`Cannot import ${tag} into Docker`);
}

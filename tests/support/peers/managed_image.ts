import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import { run, say } from "../runner/command.ts";

const CONTEXT = new URL("../../images/managed", import.meta.url).pathname;
const BUILD_WITHIN = 600_000;

/** The image of managed servers, built if it does not exist: tagged with the hash of its sources. */
export async function managedImage(): Promise<string> {
  const files = (await Array.fromAsync(new Glob("**").scan(CONTEXT))).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(CONTEXT, file), "utf8")));
  const content = new Bun.CryptoHasher("sha256").update([...files, ...texts].join("\0")).digest("hex");
  const image = `slipway-test-managed:${content.slice(0, 12)}`;
  if ((await run(["docker", "image", "inspect", image])).ok) return image;
  say("Building the image of managed servers …");
  const built = await run(["docker", "build", "--quiet", "--tag", image, CONTEXT], { timeout: BUILD_WITHIN });
  if (!built.ok) throw new Error(`Cannot build ${image}: ${built.lastLine}`);
  return image;
}

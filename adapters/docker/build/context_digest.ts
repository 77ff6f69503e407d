import type { ImageBuildInput } from "../../../ports/deployments/image_builder.ts";
import type { BuildContext } from "./build_context.ts";
import { type ContextEntry, contentOf } from "./context_entry.ts";

const FILES_AT_ONCE = 16;

/**
 * Returns a digest of all input of a build: names, kinds, modes, contents and symlink targets, the Dockerfile's text,
 * the build target and the arguments. Modification times, owners and the location of the folder make no difference.
 * Rejects when a file changes meanwhile.
 */
export async function contextDigest(
  { root, entries, dockerfile }: BuildContext,
  { target, args }: Pick<ImageBuildInput, "target" | "args">,
): Promise<string> {
  const all = new Bun.CryptoHasher("sha256");
  // JSON keeps the parts separate: they cannot run into each other.
  const add = (...parts: readonly unknown[]) => void all.update(`${JSON.stringify(parts)}\n`);
  add("slipway context 1", new Bun.CryptoHasher("sha256").update(dockerfile.bytes).digest("hex"), target ?? null);
  for (const [name, value] of [...args].toSorted(([a], [b]) => (a < b ? -1 : 1))) add("arg", name, value);
  for (let start = 0; start < entries.length; start += FILES_AT_ONCE) {
    const some = entries.slice(start, start + FILES_AT_ONCE);
    const contents = await Promise.all(some.map((entry) => contentDigest(root, entry)));
    for (const [index, { path, kind, mode, target: leadsTo }] of some.entries()) {
      // A symlink has no mode of its own.
      add(kind, path, kind === "link" ? leadsTo : mode, contents[index]);
    }
  }
  return `sha256:${all.digest("hex")}`;
}

async function contentDigest(root: string, entry: ContextEntry): Promise<string | null> {
  if (entry.kind !== "file") return null;
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const bytes of contentOf(root, entry)) hasher.update(bytes);
  return hasher.digest("hex");
}

import { detect, type Detection } from "../../../domain/detection/detect.ts";
import { isManifest } from "../../../domain/detection/manifests.ts";
import type { ManifestParser } from "../../../ports/projects/manifest_parser.ts";
import type { ReadOptions, TreeEntry } from "../../../ports/projects/upload_files.ts";

const MANIFEST_BYTES = 1_048_576;
const ALL_MANIFESTS_BYTES = 16 * MANIFEST_BYTES;
const MANIFESTS = 500;
const READS_AT_ONCE = 16;
/** Greater than the depth of any path. */
const FAR_AWAY = 100_000;

/** A readable file tree, wherever it is stored. */
export interface ReadableTree {
  entries(): AsyncIterable<TreeEntry>;
  read(path: string, options: ReadOptions): Promise<Uint8Array | undefined>;
}

/**
 * Detects what the files below the folder `root` are and how to build them, considering the files around them too;
 * executes nothing of them.
 */
export async function detectFiles(parser: ManifestParser, tree: ReadableTree, root = ""): Promise<Detection> {
  const parts = root.split("/").filter((part) => part !== "" && part !== ".");
  const prefix = parts.map((part) => `${part}/`).join("");
  const paths: string[] = [];
  const manifests: { path: string; size: number }[] = [];
  for await (const { path, type, size } of tree.entries()) {
    if (type !== "file") continue;
    paths.push(path);
    if (isManifest(path.startsWith(prefix) ? path.slice(prefix.length) : path)) manifests.push({ path, size });
  }
  const texts = await textsOf(tree, worthReading(manifests, prefix));
  const parsed = new Map<string, unknown>();
  const data = (path: string) => {
    const text = texts.get(path);
    if (!parsed.has(path)) parsed.set(path, text === undefined ? undefined : parser.parse(path, text));
    return parsed.get(path);
  };
  return detect({ paths, text: (path) => texts.get(path), data }, parts.join("/"));
}

/** Picks as many manifests as may be held in memory; those below the prefix and near the root matter most. */
function worthReading(
  manifests: readonly { readonly path: string; readonly size: number }[],
  prefix: string,
): string[] {
  let left = ALL_MANIFESTS_BYTES;
  const fits = (size: number) => {
    const fitting = size <= Math.min(MANIFEST_BYTES, left);
    if (fitting) left -= size;
    return fitting;
  };
  const far = (path: string) => path.split("/").length + (path.startsWith(prefix) ? 0 : FAR_AWAY);
  return manifests
    .map(({ path, size }) => ({ path, size, distance: far(path) }))
    .toSorted((a, b) => a.distance - b.distance)
    .filter(({ size }) => fits(size))
    .slice(0, MANIFESTS)
    .map(({ path }) => path);
}

async function textsOf(tree: ReadableTree, paths: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const waiting = [...paths].values();
  const reader = async () => {
    for (const path of waiting) {
      const bytes = await tree.read(path, { maxBytes: MANIFEST_BYTES });
      if (bytes) texts.set(path, new TextDecoder().decode(bytes));
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, reader));
  return texts;
}

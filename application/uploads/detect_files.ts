import { detect, type Detection } from "../../domain/detection/detect.ts";
import { isManifest } from "../../domain/detection/manifests.ts";
import type { ManifestParser } from "../../ports/manifest_parser.ts";
import type { TreeEntry } from "../../ports/upload_files.ts";

const MANIFEST_BYTES = 1_048_576;
const MANIFESTS = 500;

/** The files of one tree, wherever it is kept. */
export interface ReadableTree {
  entries(): AsyncIterable<TreeEntry>;
  read(path: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
}

/** Says what the files below `root` are and how they would be built; runs nothing of them. */
export async function detectFiles(parser: ManifestParser, tree: ReadableTree, root = ""): Promise<Detection> {
  const paths: string[] = [];
  const texts = new Map<string, string>();
  for await (const { path, type } of tree.entries()) {
    if (type === "file" && path.startsWith(root)) paths.push(path.slice(root.length));
  }
  for (const path of paths.filter(isManifest).slice(0, MANIFESTS)) {
    const bytes = await tree.read(root + path, { maxBytes: MANIFEST_BYTES });
    if (bytes) texts.set(path, new TextDecoder().decode(bytes));
  }
  return detect({
    paths,
    text: (path) => texts.get(path),
    data: (path) => {
      const text = texts.get(path);
      return text === undefined ? undefined : parser.parse(path, text);
    },
  });
}

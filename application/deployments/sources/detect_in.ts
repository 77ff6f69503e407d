import type { Detection } from "../../../domain/detection/detection.ts";
import type { ReleaseFolders } from "../../../ports/deployments/release_folders.ts";
import type { ManifestParser } from "../../../ports/projects/manifest_parser.ts";
import { detectFiles, type ReadableTree } from "../../projects/uploads/detect_files.ts";

export interface DetectInPorts {
  readonly manifestParser: ManifestParser;
  readonly releaseFolders: ReleaseFolders;
}

/** Detects what a release folder contains below `root`. */
export function detectIn(ports: DetectInPorts, id: string, root = ""): Promise<Detection> {
  return detectFiles(ports.manifestParser, treeOf(ports, id), root);
}

/** The files of a release folder. */
export function treeOf({ releaseFolders }: Pick<DetectInPorts, "releaseFolders">, id: string): ReadableTree {
  return {
    entries: () => releaseFolders.entries(id),
    read: (path, options) => releaseFolders.read(id, path, options),
  };
}

import type { Detection } from "../../domain/detection/detection.ts";
import { describedServices } from "../../domain/detection/described_services.ts";
import { Failure } from "../../domain/failure.ts";
import type { ManifestParser } from "../../ports/manifest_parser.ts";
import type { YamlReader } from "../../ports/yaml_reader.ts";
import { loadCompose } from "../deployments/load_compose.ts";
import { detectFiles, type ReadableTree } from "./detect_files.ts";

export interface DetectProjectPorts {
  readonly manifestParser: ManifestParser;
  readonly yamlReader: YamlReader;
}

/** Says what the files of a tree are, as `detectFiles` does, and where a compose file tells their services, what it says with all it refers to; what is wrong with it is warned of. */
export async function detectProject(ports: DetectProjectPorts, tree: ReadableTree): Promise<Detection> {
  const folders = new Set<string>();
  const detection = await detectFiles(ports.manifestParser, {
    ...tree,
    async *entries() {
      for await (const entry of tree.entries()) {
        for (let path = entry.path; path.includes("/");) {
          path = path.slice(0, path.lastIndexOf("/"));
          if (folders.has(path)) break;
          folders.add(path);
        }
        yield entry;
      }
    },
  });
  const { composeFile, projectType, rootDirectory } = detection;
  if (composeFile === null || projectType !== "services") return detection;
  const root = rootDirectory === null ? "" : `${rootDirectory}/`;
  const load = loadCompose({
    yamlReader: ports.yamlReader,
    releaseFolders: { entries: () => tree.entries(), read: (_, path, options) => tree.read(path, options) },
  });
  try {
    const { services, warnings } = await load("", { root, file: composeFile, variables: new Map() });
    const described = describedServices(services, { root, hasFolder: (path) => folders.has(path) });
    return { ...detection, services: described.services, warnings: [...described.warnings, ...warnings] };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "compose_invalid") throw error;
    const problems = error.details?.map(({ path, message }) => `${path}: ${message}`) ?? [error.message];
    return { ...detection, warnings: [...detection.warnings, ...problems] };
  }
}

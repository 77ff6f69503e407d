import { NOTHING_PUBLIC, resolveEndpoints } from "../../../domain/services/resolve_endpoints.ts";
import type { Detection } from "../../../domain/detection/detection.ts";
import { describedServices } from "../../../domain/detection/described_services.ts";
import { containerNeed } from "../../../domain/detection/container_need.ts";
import { startCommandIn, warningsIn } from "../../../domain/detection/in_runtime.ts";
import { engineNeeded, Failure } from "../../../domain/failure.ts";
import type { RuntimeName } from "../../../domain/projects/project.ts";
import type { ContainerEngine } from "../../../ports/deployments/container_engine.ts";
import type { ManifestParser } from "../../../ports/projects/manifest_parser.ts";
import type { YamlReader } from "../../../ports/projects/yaml_reader.ts";
import { loadCompose } from "../../deployments/load_compose.ts";
import { detectFiles, type ReadableTree } from "./detect_files.ts";

export interface DetectProjectPorts {
  readonly containerEngine: ContainerEngine;
  readonly manifestParser: ManifestParser;
  /** What the operator said about how projects run that do not choose. */
  readonly runtimePreset: RuntimeName | "auto";
  readonly yamlReader: YamlReader;
}

/** Says what the files of a tree are and how they would be built; what stands in the way here is warned of. */
export async function detectProject(ports: DetectProjectPorts, tree: ReadableTree): Promise<Detection> {
  const detection = await inUsualRuntime(ports, await detectAll(ports, tree));
  const missing = await missingEngine(ports, detection);
  return missing === undefined ? detection : { ...detection, warnings: [missing, ...detection.warnings] };
}

/** What was found, as it would be run here by a project that does not choose. */
async function inUsualRuntime(
  { containerEngine, runtimePreset }: DetectProjectPorts,
  detection: Detection,
): Promise<Detection> {
  if (detection.projectType !== "app" || !detection.image?.startCommand) return detection;
  const usesImage = runtimePreset === "docker" || (runtimePreset === "auto" && (await containerEngine.answers()));
  const runtime = usesImage ? "docker" : "process";
  const warnings = warningsIn(runtime, detection.startCommand, detection);
  return { ...detection, warnings, startCommand: startCommandIn(runtime, detection.startCommand, detection) };
}

/** What a person is to be told who deploys this while it needs containers and there are none to be had. */
async function missingEngine(
  { containerEngine, runtimePreset }: DetectProjectPorts,
  detection: Detection,
): Promise<string | undefined> {
  const need = containerNeed(detection);
  if (need === undefined) return undefined;
  if (runtimePreset === "process")
    return `Cannot run this as a process: ${need}. Set the runtime of the project to "docker"`;
  return (await containerEngine.answers()) ? undefined : engineNeeded(need).message;
}

/** Says what the files of a tree are, as `detectFiles` does, and where a compose file tells their services, what it says with all it refers to; what is wrong with it is warned of. */
async function detectAll(ports: DetectProjectPorts, tree: ReadableTree): Promise<Detection> {
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
    const hidden = resolveEndpoints(services, []).length === 0 ? [NOTHING_PUBLIC] : [];
    return { ...detection, services: described.services, warnings: [...hidden, ...described.warnings, ...warnings] };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "compose_invalid") throw error;
    const problems = error.details?.map(({ path, message }) => `${path}: ${message}`) ?? [error.message];
    return { ...detection, warnings: [...detection.warnings, ...problems] };
  }
}

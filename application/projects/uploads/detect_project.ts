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
import { loadCompose } from "../../deployments/sources/load_compose.ts";
import { detectFiles, type ReadableTree } from "./detect_files.ts";

export interface DetectProjectPorts {
  readonly containerEngine: ContainerEngine;
  readonly manifestParser: ManifestParser;
  /** The operator's runtime for projects that do not choose one. */
  readonly runtimePreset: RuntimeName | "auto";
  readonly yamlReader: YamlReader;
}

/** Detects what the files of a tree are and how to build them; warns of obstacles on this machine. */
export async function detectProject(ports: DetectProjectPorts, tree: ReadableTree): Promise<Detection> {
  const detection = await inUsualRuntime(ports, await detectAll(ports, tree));
  const missing = await missingEngine(ports, detection);
  return missing === undefined ? detection : { ...detection, warnings: [missing, ...detection.warnings] };
}

/** Adapts a detection to the runtime that a project gets here when it does not choose one. */
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

/** Returns the warning for a project that needs containers while no container engine is available. */
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

/**
 * Detects like `detectFiles`; where a compose file defines the services, also loads it with all files that it refers
 * to. Problems of the compose file become warnings.
 */
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
    releaseFolders: { read: (_, path, options) => tree.read(path, options) },
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

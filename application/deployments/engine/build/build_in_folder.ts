import { buildCacheKey } from "../../../../domain/deployments/build_cache_key.ts";
import { sharedVariables } from "../../../../domain/projects/service_variables.ts";
import type { BuildRequest } from "../../../../ports/deployments/builder.ts";
import { folderOf, workingFolder } from "../../../services/release_folder.ts";
import type { Run } from "../run.ts";

/** A run with the ports of this step. */
type StepRun = Run<"builder" | "releaseFolders">;

/** A part of a release that is built in the release folder itself. */
export interface FolderUnit {
  /** The service of the log lines; `null` for a single-service project. */
  readonly service: string | null;
  readonly rootDirectory: string | null;
}

/** Runs the build commands in the release folder itself. */
export async function buildInFolder(
  run: StepRun,
  unit: FolderUnit,
  commands: BuildRequest["commands"],
  signal: AbortSignal,
): Promise<void> {
  const { deployment } = run;
  const folder = await folderOf(run);
  await run.ports.builder.build({
    deploymentId: deployment.id,
    cacheKey: buildCacheKey(deployment),
    folder,
    workingFolder: workingFolder(folder, unit),
    commands,
    environment: sharedVariables(run.environment),
    signal,
    log: (line, stream) => run.writer.line(line, { step: "build", service: unit.service, stream }),
  });
}

/** Returns the install and build commands that are set. */
export function commandsOf(plan: {
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
}): BuildRequest["commands"] {
  const { installCommand, buildCommand } = plan;
  return [
    ...(installCommand ? [{ name: "install" as const, command: installCommand }] : []),
    ...(buildCommand ? [{ name: "build" as const, command: buildCommand }] : []),
  ];
}

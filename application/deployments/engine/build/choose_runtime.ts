import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { engineNeeded, invalid } from "../../../../domain/failure.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import type { ContainerEngine } from "../../../../ports/deployments/container_engine.ts";

/** How long to wait for a busy engine before deciding without it. */
export const ENGINE_MS = 30_000;

/**
 * Chooses the runtime of a deployment: the project's setting, else the operator's. With `auto` these are containers if
 * an engine answers and the project can be put into an image, and processes otherwise. Throws if the deployment needs
 * an engine and none answers.
 */
export async function chooseRuntime(
  { plan, found }: { readonly plan: DeploymentPlan; readonly found: Detection },
  { containerEngine, preset }: { readonly containerEngine: ContainerEngine; readonly preset: RuntimeName | "auto" },
): Promise<RuntimeName> {
  const wanted = plan.runtime ?? preset;
  const hasDockerfile = plan.projectType === "docker";
  if (wanted === "process" && hasDockerfile) {
    throw invalid(
      "runtime_unsupported",
      'Cannot run this as a process: it has a Dockerfile. Set the runtime of the project to "docker", or its projectType to "app"',
    );
  }
  if (wanted === "docker" && !hasDockerfile && !isBuildable(plan, found)) {
    throw invalid(
      "no_image",
      'Cannot put this into an image: the tools that it needs are not known. Add a Dockerfile, or set the runtime of the project to "process"',
    );
  }
  if (wanted === "process" || (wanted === "auto" && !hasDockerfile && !(needsBuilding(plan) && found.image)))
    return "process";
  // The build itself says why a server cannot be reached.
  if (!needsBuilding(plan) || plan.serverId !== undefined || (await containerEngine.answers({ withinMs: ENGINE_MS })))
    return "docker";
  if (wanted === "auto" && !hasDockerfile) return "process";
  const other = hasDockerfile
    ? 'set the projectType of the project to "app" and its startCommand to run it as a process'
    : 'set the runtime of the project to "process"';
  throw engineNeeded(hasDockerfile ? "it has a Dockerfile" : "it must run in a container", other);
}

function isBuildable(plan: DeploymentPlan, { image }: Detection): boolean {
  return image !== null || !needsBuilding(plan);
}

/** A site of plain files is served as it is, in any runtime. */
function needsBuilding({ projectType, installCommand, buildCommand }: DeploymentPlan): boolean {
  return projectType !== "static" || installCommand !== null || buildCommand !== null;
}

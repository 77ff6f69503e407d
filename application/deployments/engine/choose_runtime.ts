import type { DeploymentPlan } from "../../../domain/deployment/deployment.ts";
import type { Detection } from "../../../domain/detection/detection.ts";
import { invalid } from "../../../domain/failure.ts";
import type { RuntimeName } from "../../../domain/project.ts";
import type { ContainerEngine } from "../../../ports/container_engine.ts";

/**
 * What a deployment is built and run by: what its project says, else what the operator said; left to choose, containers where an engine answers and the
 * project can be put into an image, and processes otherwise.
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
      'Cannot put this into an image: nothing tells which tools it needs. Add a Dockerfile, or set the runtime of the project to "process"',
    );
  }
  if (wanted !== "auto") return wanted;
  if (hasDockerfile) return "docker";
  return needsBuilding(plan) && found.image && (await containerEngine.answers()) ? "docker" : "process";
}

function isBuildable(plan: DeploymentPlan, { image }: Detection): boolean {
  return image !== null || !needsBuilding(plan);
}

/** A site of files only is served as it is, whatever the runtime. */
function needsBuilding({ projectType, installCommand, buildCommand }: DeploymentPlan): boolean {
  return projectType !== "static" || installCommand !== null || buildCommand !== null;
}

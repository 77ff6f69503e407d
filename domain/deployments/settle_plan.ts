import type { DeploymentPlan } from "./deployment.ts";
import type { Detection } from "../detection/detection.ts";
import { portNumber } from "../port_number.ts";
import type { ProjectType, RuntimeName } from "../projects/project.ts";
import type { Secret } from "../secret.ts";
import { innerPath } from "../services/sole_service.ts";

/** Further input for settling a plan, besides the detection. */
export interface PlanSetting {
  readonly environment: ReadonlyMap<string, Secret>;
  /** The operator's runtime setting. */
  readonly preset: RuntimeName | "auto";
}

/** A Dockerfile defines its own commands, and its image the port. */
const NO_COMMANDS = { installCommand: null, buildCommand: null, startCommand: null, port: null };

/** Completes the plan of a build: a person's settings win; the rest comes from the detection. */
export function settlePlan(
  plan: DeploymentPlan,
  found: Detection,
  { environment, preset }: PlanSetting,
): DeploymentPlan {
  const projectType = plan.projectType ?? typeOf(plan, found, preset);
  const own = projectType === "docker" ? NO_COMMANDS : found;
  return {
    ...plan,
    rootDirectory: innerPath(plan.rootDirectory, found.rootDirectory) || null,
    framework: plan.framework ?? found.framework,
    packageManager: plan.packageManager ?? found.packageManager,
    installCommand: plan.installCommand ?? own.installCommand,
    buildCommand: plan.buildCommand ?? own.buildCommand,
    startCommand: plan.startCommand ?? own.startCommand,
    outputDirectory: plan.outputDirectory ?? found.outputDirectory,
    dockerfile: plan.dockerfile ?? found.dockerfile,
    port:
      plan.port ??
      portNumber(environment.get("PORT")?.reveal()) ??
      portNumber(plan.publicEndpoints[0]?.port) ??
      own.port,
    projectType,
  };
}

/** A named Dockerfile always counts. A start command overrides a detected one only if the runtime is `process`. */
function typeOf(
  { dockerfile, runtime, startCommand }: DeploymentPlan,
  { projectType }: Detection,
  preset: RuntimeName | "auto",
): ProjectType | null {
  if (dockerfile !== null) return "docker";
  if (startCommand === null) return projectType;
  return projectType === "docker" && (runtime ?? preset) !== "process" ? "docker" : "app";
}

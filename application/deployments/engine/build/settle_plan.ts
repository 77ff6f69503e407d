import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Detection } from "../../../../domain/detection/detection.ts";
import { portNumber } from "../../../../domain/port_number.ts";
import type { ProjectType, RuntimeName } from "../../../../domain/projects/project.ts";
import type { Secret } from "../../../../domain/secret.ts";
import { innerPath } from "../../../../domain/services/sole_service.ts";

/** What a plan is settled with beside what was found. */
export interface PlanSetting {
  readonly environment: ReadonlyMap<string, Secret>;
  /** What the operator said about how things run. */
  readonly preset: RuntimeName | "auto";
}

/** A Dockerfile says itself what is run, and its image where it listens. */
const NO_COMMANDS = { installCommand: null, buildCommand: null, startCommand: null, port: null };

/** What is built and run: what a person set counts; the rest is as it was found. */
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

/** A Dockerfile that somebody names is meant; one that is there is used, however it is started, unless processes are wanted. */
function typeOf(
  { dockerfile, runtime, startCommand }: DeploymentPlan,
  { projectType }: Detection,
  preset: RuntimeName | "auto",
): ProjectType | null {
  if (dockerfile !== null) return "docker";
  if (startCommand === null) return projectType;
  return projectType === "docker" && (runtime ?? preset) !== "process" ? "docker" : "app";
}

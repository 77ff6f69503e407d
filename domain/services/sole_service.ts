import type { Deployment, DeploymentPlan } from "../deployments/deployment.ts";
import type { ServiceRecord } from "./service_set.ts";
import { PLAIN_CONTAINER, type ServiceOrigin, type ServiceSpec } from "./service_spec.ts";

/** Name of the only service in a project without several. */
export const SOLE_SERVICE = "app";
/** The default port of a program. */
export const USUAL_PORT = 8080;

/** Returns the only service of a deployment without several, as defined by its plan. */
export function soleService({ image, plan }: Pick<Deployment, "image" | "plan">): ServiceRecord {
  const others = plan.publicEndpoints.flatMap(({ port }) => (port === undefined ? [] : [Number(port)]));
  const spec: ServiceSpec = {
    name: SOLE_SERVICE,
    from: plannedOrigin(plan),
    environment: {},
    ports: [...new Set([plan.port ?? USUAL_PORT, ...others])],
    dependsOn: [],
    oneShot: false,
    container: PLAIN_CONTAINER,
  };
  return { spec, image, madeFrom: null };
}

/** Returns what the service of a settled plan is built from. */
export function plannedOrigin(plan: DeploymentPlan): ServiceOrigin {
  const { framework, packageManager, installCommand, buildCommand, startCommand, outputDirectory } = plan;
  const rootDirectory = plan.rootDirectory ?? "";
  if (plan.projectType === "docker") {
    const { buildArgs: args, buildTarget: target, dockerfile } = plan;
    return { kind: "dockerfile", context: rootDirectory, dockerfile, text: null, target, args };
  }
  const isStatic = plan.projectType === "static";
  return {
    kind: "app",
    rootDirectory,
    framework,
    packageManager,
    installCommand,
    buildCommand,
    startCommand: isStatic ? null : (startCommand ?? ""),
    outputDirectory: isStatic ? (outputDirectory ?? ".") : outputDirectory,
  };
}

/** Returns whether a service is a static site: a folder of files that the edge serves, with nothing to start. */
export function isSite({ from }: ServiceSpec): boolean {
  return from.kind === "app" && from.startCommand === null;
}

/** Returns the folder of a static site inside its release; `null` for other services. */
export function siteFolder({ from }: ServiceSpec): string | null {
  if (from.kind !== "app" || from.startCommand !== null) return null;
  return innerPath(from.rootDirectory, from.outputDirectory);
}

/** Joins path segments inside a release; ignores empty ones and `.`. */
export function innerPath(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== "" && part !== ".").join("/");
}

/** Returns whether a deployment consists of named services, even if there is only one. */
export function hasServices({ plan }: Pick<Deployment, "plan">): boolean {
  return plan.projectType === "services";
}

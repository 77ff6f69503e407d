import type { Deployment, DeploymentPlan } from "../deployments/deployment.ts";
import type { ServiceRecord } from "./service_set.ts";
import { PLAIN_CONTAINER, type ServiceOrigin, type ServiceSpec } from "./service_spec.ts";

/** What the service of a project without several is called. */
export const SOLE_SERVICE = "app";
/** What a program listens on when nothing tells. */
export const USUAL_PORT = 8080;

/** The one service of a deployment that has no others, as its plan has it. */
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

/** What a service is made from whose plan is settled. */
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

/** Tells whether a service is a folder of files that the edge serves: there is nothing to start. */
export function isSite({ from }: ServiceSpec): boolean {
  return from.kind === "app" && from.startCommand === null;
}

/** The folder of a site inside its release. */
export function siteFolder({ from }: ServiceSpec): string | null {
  if (from.kind !== "app" || from.startCommand !== null) return null;
  return innerPath(from.rootDirectory, from.outputDirectory);
}

/** Joins parts of a path inside a release; empty ones and `.` do not count. */
export function innerPath(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== "" && part !== ".").join("/");
}

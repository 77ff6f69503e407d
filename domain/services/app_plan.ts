import type { DeploymentPlan } from "../deployments/deployment.ts";
import type { RuntimeName } from "../projects/project.ts";
import type { ServiceApp, ServiceDockerfile, ServiceSpec } from "./service_spec.ts";
import { isSite, plannedOrigin } from "./sole_service.ts";

/** The plan of a service that is built from the source, as if it were its own project. */
export function servicePlan(
  spec: ServiceSpec & { readonly from: ServiceApp | ServiceDockerfile },
  runtime: RuntimeName | null,
): DeploymentPlan {
  const { from, ports } = spec;
  const isApp = from.kind === "app";
  return {
    framework: isApp ? from.framework : null,
    packageManager: isApp ? from.packageManager : null,
    installCommand: isApp ? from.installCommand : null,
    buildCommand: isApp ? from.buildCommand : null,
    startCommand: isApp ? from.startCommand : null,
    outputDirectory: isApp ? from.outputDirectory : null,
    rootDirectory: (isApp ? from.rootDirectory : from.context) || null,
    dockerfile: isApp ? null : from.dockerfile,
    buildTarget: isApp ? null : from.target,
    buildArgs: isApp ? {} : from.args,
    port: ports[0] ?? null,
    projectType: isApp ? null : "docker",
    healthPath: null,
    runtime,
    publicEndpoints: [],
  };
}

/** The plan of a service that was detected already. */
export function settledPlan(
  spec: ServiceSpec & { readonly from: ServiceApp | ServiceDockerfile },
  runtime: RuntimeName | null,
): DeploymentPlan {
  const plan = servicePlan(spec, runtime);
  return spec.from.kind === "app" ? { ...plan, projectType: isSite(spec) ? "static" : "app" } : plan;
}

/** Returns a service with the origin and port of its settled plan. */
export function plannedService(spec: ServiceSpec, plan: DeploymentPlan): ServiceSpec {
  const ports = plan.port === null || spec.ports.length > 0 ? spec.ports : [plan.port];
  return { ...spec, ports, from: plannedOrigin(plan) };
}

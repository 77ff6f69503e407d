import type { Project } from "../../domain/projects/project.ts";
import type { ServiceDefinition } from "../../domain/services/service_definition.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import { deploymentVariables, type VariablesTarget } from "../deployments/deployment_variables.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";
import { checkServices } from "./check_services.ts";

export interface ServicesOfPorts extends CheckLocalPathPorts {
  readonly adoptions: Adoptions;
  readonly variables: Variables;
}

/**
 * Returns the validated service specs of a deployment to be made of a project: the given definitions, else those in the
 * project's settings; `undefined` when its source defines them.
 */
export function servicesOf(ports: ServicesOfPorts) {
  const check = checkServices(ports);
  return async function (
    { id, location, settings }: Project,
    target: Omit<VariablesTarget, "projectId">,
    given: readonly ServiceDefinition[] = [],
  ): Promise<readonly ServiceSpec[] | undefined> {
    const { projectType = "services", services: kept = [] } = settings;
    const definitions = given.length > 0 ? given : projectType === "services" ? kept : [];
    if (definitions.length === 0) return undefined;
    const { values } = await deploymentVariables(ports, { ...target, projectId: id });
    const adopted = location === "server" ? await ports.adoptions.list(id) : [];
    return check(definitions, { settings, location, adopted, variables: values, environment: target.environment });
  };
}

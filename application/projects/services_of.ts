import type { Project } from "../../domain/project.ts";
import type { ServiceDefinition } from "../../domain/service_definition.ts";
import { checkSwaps } from "../../domain/composition/check_swaps.ts";
import { givenServices } from "../../domain/composition/given_services.ts";
import type { ServiceSpec } from "../../domain/composition/service_spec.ts";
import type { Variables } from "../../ports/variables.ts";
import { checkHostMounts } from "./check_host_mounts.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";

export interface ServicesOfPorts extends CheckLocalPathPorts {
  readonly variables: Variables;
}

/** The services that somebody gives for a project, else those that it is said to have, written out and allowed; `undefined` when its source tells. */
export function servicesOf(ports: ServicesOfPorts) {
  const checkMounts = checkHostMounts(ports);
  return async function (
    project: Project,
    given: readonly ServiceDefinition[] = [],
  ): Promise<readonly ServiceSpec[] | undefined> {
    const { projectType = "services", services: kept = [] } = project.settings;
    const definitions = given.length > 0 ? given : projectType === "services" ? kept : [];
    if (definitions.length === 0) return undefined;
    const services = givenServices(definitions, await ports.variables.reveal(project.id));
    checkSwaps(services, { sites: false });
    await checkMounts(project, services);
    return services;
  };
}

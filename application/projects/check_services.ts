import type { Environment } from "../../domain/deployments/deployment.ts";
import type { AdoptedService } from "../../domain/migration/adoption.ts";
import { withAdoptedMounts } from "../../domain/migration/adopted_mounts.ts";
import type { Project, ProjectSettings } from "../../domain/projects/project.ts";
import type { Secret } from "../../domain/secret.ts";
import type { ServiceDefinition } from "../../domain/services/service_definition.ts";
import { checkSwaps } from "../../domain/services/check_swaps.ts";
import { givenServices } from "../../domain/services/given_services.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import { checkHostMounts } from "./check_host_mounts.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";

/** The project context that services are validated in. */
export interface ServiceSurroundings {
  readonly settings: ProjectSettings;
  /** Where they run; on this machine if absent. */
  readonly location?: Project["location"];
  /** What the services were adopted from. */
  readonly adopted?: readonly AdoptedService[];
  /** The variables that the services get; when absent, references to any variable pass. */
  readonly variables?: ReadonlyMap<string, Secret>;
  /** The environment that the variables are for; production if absent. */
  readonly environment?: Environment;
}

/**
 * Expands the service definitions of a caller into full specs and refuses those that could not be deployed; the failure
 * names the invalid field.
 */
export function checkServices(ports: CheckLocalPathPorts) {
  const checkMounts = checkHostMounts(ports);
  return async function (
    definitions: readonly ServiceDefinition[],
    { settings, variables, environment, location, adopted = [] }: ServiceSurroundings,
  ): Promise<readonly ServiceSpec[]> {
    const given = givenServices(definitions, variables, environment);
    const services = location === "server" ? given.map((spec) => withAdoptedMounts(spec, adopted)) : given;
    checkSwaps(services, { sites: false, fieldOf: volumeField });
    await checkMounts({ settings, ...(location && { location }) }, services, volumeField);
    return services;
  };
}

/** The input field of a mount: every volume of a service definition is one mount. */
function volumeField(service: number, mount: number): string {
  return `services.${service}.volumes.${mount}`;
}

import type { Deployment, Environment } from "../../domain/deployments/deployment.ts";
import { adoptedInstanceId } from "../../domain/deployments/instance_id.ts";
import { adoptedSpec } from "../../domain/migration/adopted_spec.ts";
import type { AdoptedService } from "../../domain/migration/adoption.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { ServiceSpec } from "../../domain/services/service_spec.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";

export interface AdoptedPorts {
  readonly adoptions: Adoptions;
}

/**
 * Returns the services of a project with the recipes of the containers that they were adopted from. Only on servers:
 * what a container may do there was decided by whoever runs that server. Not for previews, which may run code of others.
 */
export async function withRecipes(
  { adoptions }: AdoptedPorts,
  { id, location, settings }: Project,
  specs: readonly ServiceSpec[] | undefined,
  environment: Environment,
): Promise<readonly ServiceSpec[] | undefined> {
  if (!specs || location !== "server" || environment === "preview") return specs;
  const adopted = new Map((await adoptions.list(id)).map((each) => [each.service, each]));
  return specs.map((spec) => {
    const origin = adopted.get(spec.name);
    const definition = settings.services?.find(({ name }) => name === spec.name);
    return origin && definition ? adoptedSpec(spec, definition, origin) : spec;
  });
}

/** The instance id of the container that a service was adopted from, as part of a deployment. */
export function adoptedInstanceOf({ id, projectId }: Deployment, adopted: AdoptedService): string {
  const { containerId, serverId, service } = adopted;
  return adoptedInstanceId({ deploymentId: id, projectId, serverId, service, containerId });
}

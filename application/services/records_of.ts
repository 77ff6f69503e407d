import type { Deployment } from "../../domain/deployments/deployment.ts";
import { recordsIn, type ServiceRecord } from "../../domain/services/service_set.ts";
import { hasServices, soleService } from "../../domain/services/sole_service.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";

/** The recorded services that a deployment runs. */
export async function recordsOf(
  { serviceSets }: { readonly serviceSets: ServiceSets },
  deployment: Deployment,
): Promise<readonly ServiceRecord[]> {
  if (!hasServices(deployment)) return [soleService(deployment)];
  const serviceSet = await serviceSets.read(deployment.id);
  return serviceSet ? recordsIn(serviceSet) : [];
}

import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { recordsIn, type ServiceRecord } from "../../../../domain/services/composition.ts";
import { soleService } from "../../../../domain/services/sole_service.ts";
import type { Compositions } from "../../../../ports/deployments/compositions.ts";

/** The services that a deployment runs, as they are recorded. */
export async function recordsOf(
  { compositions }: { readonly compositions: Compositions },
  deployment: Deployment,
): Promise<readonly ServiceRecord[]> {
  if (!hasServices(deployment)) return [soleService(deployment)];
  const composition = await compositions.read(deployment.id);
  return composition ? recordsIn(composition) : [];
}

/** Tells whether a deployment is made of services that are told apart, be it only one. */
export function hasServices({ plan }: Pick<Deployment, "plan">): boolean {
  return plan.projectType === "services";
}

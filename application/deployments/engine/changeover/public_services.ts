import type { Deployment } from "../../../../domain/deployments/deployment.ts";
import { SOLE_SERVICE } from "../../../../domain/services/sole_service.ts";
import { hasServices } from "./records_of.ts";

/** The names of the services that have a public address. */
export function publicServices(deployment: Pick<Deployment, "plan">): ReadonlySet<string> {
  if (!hasServices(deployment)) return new Set([SOLE_SERVICE]);
  return new Set(deployment.plan.publicEndpoints.flatMap(({ service }) => service ?? []));
}

import type { Deployment } from "../deployments/deployment.ts";
import { hasServices, SOLE_SERVICE } from "./sole_service.ts";

/** The names of the services that have a public address. */
export function publicServices(deployment: Pick<Deployment, "plan">): ReadonlySet<string> {
  if (!hasServices(deployment)) return new Set([SOLE_SERVICE]);
  return new Set(deployment.plan.publicEndpoints.flatMap(({ service }) => service ?? []));
}

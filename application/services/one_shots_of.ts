import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import { recordsOf } from "./records_of.ts";

/** Returns the names of the services of a deployment that run to completion. */
export async function oneShotsOf(
  ports: { readonly serviceSets: ServiceSets },
  deployment: Deployment,
): Promise<ReadonlySet<string>> {
  const records = await recordsOf(ports, deployment);
  return new Set(records.filter(({ spec }) => spec.oneShot).map(({ spec }) => spec.name));
}

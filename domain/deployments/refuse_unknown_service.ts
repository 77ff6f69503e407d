import { didYouMean } from "../did_you_mean.ts";
import { invalidField } from "../failure.ts";
import { hasServices, SOLE_SERVICE } from "../services/sole_service.ts";
import type { Deployment } from "./deployment.ts";

type Services = Pick<Deployment, "plan" | "services">;

/** Throws if a deployment has no service of this name. Before its services are known, it may have any. */
export function refuseUnknownService(deployment: Services, service: string | undefined): void {
  const known = knownServices(deployment);
  if (service === undefined || known.length === 0 || known.includes(service)) return;
  const all = known.length === 1 ? `its only service is ${known[0]}` : `its services are ${known.join(", ")}`;
  throw invalidField("service", `this deployment has no such service${didYouMean(service, known)}; ${all}`);
}

function knownServices(deployment: Services): readonly string[] {
  const names = deployment.services.map(({ name }) => name);
  if (names.length > 0 || deployment.plan.projectType === null || hasServices(deployment)) return names;
  return [SOLE_SERVICE];
}

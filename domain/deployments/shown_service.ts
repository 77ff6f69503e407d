import type { DeployedService } from "./deployment.ts";

/** How a service is shown: what should run and does not has failed, whatever its deployment found. */
export function shownService({ name, status, error, outage }: DeployedService) {
  return outage === undefined ? { name, status, error } : { name, status: "failed" as const, error: outage };
}

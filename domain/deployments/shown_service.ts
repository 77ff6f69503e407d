import type { DeployedService } from "./deployment.ts";

/** Returns a service as shown to clients: one with an outage has failed, whatever its deployment recorded. */
export function shownService({ name, status, error, outage }: DeployedService) {
  return outage === undefined ? { name, status, error } : { name, status: "failed" as const, error: outage };
}

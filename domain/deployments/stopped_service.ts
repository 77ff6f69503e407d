import type { DeployedService } from "./deployment.ts";

/** A service of which nothing runs any more; what it was known by last stays known. */
export function stoppedService(
  service: DeployedService,
  { status, error }: Pick<DeployedService, "status" | "error"> = { status: "stopped", error: service.error },
): DeployedService {
  const { instanceId, outage: _, ...rest } = service;
  return { ...rest, status, error, instanceId: null, ...(instanceId !== null && { lastInstanceId: instanceId }) };
}

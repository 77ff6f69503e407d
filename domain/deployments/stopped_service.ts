import type { DeployedService } from "./deployment.ts";

/** Returns a service with no running instance; the id of its last instance is kept. */
export function stoppedService(
  service: DeployedService,
  { status, error }: Pick<DeployedService, "status" | "error"> = { status: "stopped", error: service.error },
): DeployedService {
  const { instanceId, outage: _, ...rest } = service;
  return { ...rest, status, error, instanceId: null, ...(instanceId !== null && { lastInstanceId: instanceId }) };
}

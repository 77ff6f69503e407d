import type { Deployment } from "../../domain/deployments/deployment.ts";
import { usesContainers } from "../../domain/deployments/instance_id.ts";
import { isEngineAway } from "../../domain/failure.ts";
import type { ServerEngines } from "../../ports/servers/server_engines.ts";
import type { Volumes } from "../../ports/services/volumes.ts";
import { placedPorts } from "./placed_ports.ts";

export interface DropVolumesPorts {
  readonly serverEngines: ServerEngines;
  readonly volumes: Volumes;
}

/** Removes the volumes of a preview, once nothing of it runs; those of its project stay. */
export async function dropVolumes(
  ports: DropVolumesPorts,
  deployment: Pick<Deployment, "environment" | "id" | "plan" | "services">,
): Promise<void> {
  if (deployment.environment !== "preview" || !usesContainers(deployment)) return;
  await dropScope(placedPorts(ports, deployment.plan.serverId), deployment.id);
}

/** Removes the volumes of a scope, once nothing of it runs; does nothing while the container engine is unavailable. */
export async function dropScope({ volumes }: { readonly volumes: Volumes }, scope: string): Promise<void> {
  await volumes.remove(scope).catch((error: unknown) => {
    if (!isEngineAway(error)) throw error;
  });
}

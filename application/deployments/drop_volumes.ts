import type { Deployment } from "../../domain/deployment/deployment.ts";
import { isEngineAway } from "../../domain/failure.ts";
import type { Volumes } from "../../ports/volumes.ts";

/** Removes the volumes that a preview had for itself, once nothing of it runs; those of its project stay. Without an engine there are none to be had. */
export async function dropVolumes(
  { volumes }: { readonly volumes: Volumes },
  { environment, id }: Pick<Deployment, "environment" | "id">,
): Promise<void> {
  if (environment !== "preview") return;
  await volumes.remove(id).catch((error: unknown) => {
    if (!isEngineAway(error)) throw error;
  });
}

import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import type { Installation } from "../../../../ports/identity/installation.ts";
import type { ServerEngines } from "../../../../ports/servers/server_engines.ts";

/** Records that a deployment is put into containers, on this machine or on its server, before any of them is made. */
export async function noteContainers(
  { installation, serverEngines }: { readonly installation: Installation; readonly serverEngines: ServerEngines },
  { serverId }: Pick<DeploymentPlan, "serverId">,
): Promise<void> {
  await (serverId === undefined ? installation.noteContainers() : serverEngines.noteContainers(serverId));
}

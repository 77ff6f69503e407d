import type { Deployment } from "../../domain/deployments/deployment.ts";
import { serversOf, usesContainers } from "../../domain/deployments/instance_id.ts";
import type { Instance, Runtime } from "../../ports/services/runtime.ts";

/**
 * Lists everything that runs where these deployments run, or may have run. Queries no other engine, so that a server
 * which does not answer delays only what concerns it. Leaves out the instances of an engine that is unavailable.
 */
export async function instancesAt(
  { runtime }: { readonly runtime: Pick<Runtime, "list"> },
  deployments: readonly Pick<Deployment, "plan" | "services">[],
): Promise<readonly Instance[]> {
  const places = new Map<string | null, boolean>();
  for (const deployment of deployments) {
    const containers = usesContainers(deployment);
    for (const server of serversOf(deployment)) places.set(server, places.get(server) || containers);
  }
  const lists = Array.from(places, ([server, containers]) => runtime.list({ containers, server }));
  return (await Promise.all(lists)).flat();
}

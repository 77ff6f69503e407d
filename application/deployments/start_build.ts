import type { Deployment } from "../../domain/deployments/deployment.ts";
import { requestStart } from "../../domain/deployments/requests.ts";
import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

/** Lets a held deployment start as soon as its project is free. Does nothing to one that runs already. */
export function startBuild(ports: { readonly deployments: Deployments }) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    await find(by, id, "deployment:write");
    const started = await ports.deployments.change(id, (deployment) => {
      const requested = requestStart(deployment);
      return requested && { deployment: requested, events: [] };
    });
    if (!started) throw notFound("deployment");
    return started;
  };
}

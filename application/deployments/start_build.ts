import type { Deployment } from "../../domain/deployments/deployment.ts";
import { requestStart } from "../../domain/deployments/requests.ts";
import { notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

/**
 * Lets a held deployment start as soon as its project is free. Does nothing to one that runs already. Only an admin may
 * start that of a pull request from a fork, because this approves it.
 */
export function startBuild(ports: { readonly deployments: Deployments }) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    const { projectId, pullRequest } = await find(by, id, "deployment:write");
    if (pullRequest?.fork) demand(by, "deployment:admin", { id, projectId });
    const started = await ports.deployments.change(id, (deployment) => {
      const requested = requestStart(deployment);
      return requested && { deployment: requested, events: [] };
    });
    if (!started) throw notFound("deployment");
    return started;
  };
}

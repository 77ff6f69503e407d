import type { Deployment } from "../../domain/deployment/deployment.ts";
import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Deployments } from "../../ports/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

/** Keeps a deployment's files from being cleaned up, or lets them go. */
export function pinDeployment(ports: { readonly deployments: Deployments }) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, pinned: boolean): Promise<Deployment> {
    await find(by, id, "deployment:write");
    const changed = await ports.deployments.change(id, (deployment) => ({
      deployment: { ...deployment, pinned },
      events: [],
    }));
    if (!changed) throw notFound("deployment");
    return changed;
  };
}

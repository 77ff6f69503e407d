import type { Deployment } from "../../domain/deployments/deployment.ts";
import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";

/** Finds a deployment of the caller's organization. Rejects a caller without the permission on it or its project. */
export function findDeployment({ deployments }: { readonly deployments: Deployments }) {
  return async function (by: Principal, id: string, permission: Permission): Promise<Deployment> {
    const deployment = isId("dep", id) ? await deployments.find(by.organizationId, id) : undefined;
    if (!deployment) throw notFound("deployment");
    demand(by, permission, { id, projectId: deployment.projectId });
    return deployment;
  };
}

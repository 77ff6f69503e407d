import type { Page } from "../../domain/page.ts";
import { allows, type Principal, visibleIds } from "../../domain/identity/permission.ts";
import type { DeploymentFilter, DeploymentHistory } from "../../ports/deployments/deployment_history.ts";

/** Filter of a deployment list. */
export type DeploymentSelection = Pick<DeploymentFilter, "projectId" | "status" | "environment" | "branch">;

/** Lists the deployments of the caller's organization that the caller may see, optionally filtered. */
export function listDeployments({ deploymentHistory }: { readonly deploymentHistory: DeploymentHistory }) {
  return function (by: Principal, wanted: DeploymentSelection, page: Page) {
    const ids = visibleIds(by, "deployment:list");
    if (ids === "all") return deploymentHistory.list(by.organizationId, wanted, page);
    const granted = [...by.grants, ...(by.narrowing?.grants ?? [])].filter(({ resource }) => resource === "project");
    const projectIds = [...new Set(granted.map(({ id }) => id))].filter((id) =>
      allows(by, "deployment:list", { id: "", projectId: id }),
    );
    return deploymentHistory.list(by.organizationId, { ...wanted, projectIds, ids }, page);
  };
}

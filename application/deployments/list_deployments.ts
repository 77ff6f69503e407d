import type { Page } from "../../domain/page.ts";
import { allows, type Principal, visibleIds } from "../../domain/permission.ts";
import type { Deployments } from "../../ports/deployments.ts";

/** Lists the deployments of the caller's organization that it may see, or those of one project. */
export function listDeployments({ deployments }: { readonly deployments: Deployments }) {
  return function (by: Principal, projectId: string | undefined, page: Page) {
    const ids = visibleIds(by, "deployment:list");
    if (projectId !== undefined) {
      const visible = ids === "all" || allows(by, "deployment:list", { id: "", projectId });
      return deployments.list(by.organizationId, { projectIds: visible ? [projectId] : [] }, page);
    }
    if (ids === "all") return deployments.list(by.organizationId, {}, page);
    const granted = [...by.grants, ...(by.narrowing?.grants ?? [])].filter(({ resource }) => resource === "project");
    const projectIds = [...new Set(granted.map(({ id }) => id))].filter((id) =>
      allows(by, "deployment:list", { id: "", projectId: id }),
    );
    return deployments.list(by.organizationId, { projectIds, ids }, page);
  };
}

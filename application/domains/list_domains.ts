import type { Page } from "../../domain/page.ts";
import { allows, type Principal, visibleIds } from "../../domain/identity/permission.ts";
import type { Domains } from "../../ports/domains/domains.ts";

/** Lists the host names of the projects that the caller may see, or of one of them. */
export function listDomains({ domains }: { readonly domains: Domains }) {
  return function (by: Principal, projectId: string | undefined, page: Page) {
    const visible = visibleIds(by, "project:list");
    if (projectId !== undefined) {
      const projectIds = allows(by, "project:list", { id: projectId }) ? [projectId] : [];
      return domains.list(by.organizationId, { projectIds }, page);
    }
    return domains.list(by.organizationId, visible === "all" ? {} : { projectIds: visible }, page);
  };
}

import type { Page } from "../../domain/page.ts";
import { type Principal, visibleIds } from "../../domain/identity/permission.ts";
import type { Projects } from "../../ports/projects/projects.ts";

/** Lists the projects of the caller's organization that it may see. */
export function listProjects({ projects }: { readonly projects: Projects }) {
  return function (by: Principal, search: string | undefined, page: Page) {
    const ids = visibleIds(by, "project:list");
    return projects.list(by.organizationId, { ...(ids !== "all" && { ids }), ...(search && { search }) }, page);
  };
}

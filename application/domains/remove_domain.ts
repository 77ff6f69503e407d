import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { findDomain } from "./find_domain.ts";

/** Releases a host name; a project's own free name cannot be removed before the project. */
export function removeDomain({ domains, projects }: { readonly domains: Domains; readonly projects: Projects }) {
  const find = findDomain({ domains });
  return async function (by: Principal, id: string): Promise<void> {
    const domain = await find(by, id, "project:admin");
    const project = await projects.find(by.organizationId, domain.projectId);
    if (project?.hostname === domain.hostname) {
      throw invalid(
        "own_hostname",
        "Cannot delete this name: it is the project's own free address and goes with the project",
      );
    }
    if (!(await domains.remove(by.organizationId, id))) throw notFound("domain");
  };
}

import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { Projects } from "../../ports/projects.ts";
import { findProject } from "./find_project.ts";

/** Removes a project with its variables and names. */
export function removeProject({ projects }: { readonly projects: Projects }) {
  const find = findProject({ projects });
  return async function (by: Principal, id: string): Promise<void> {
    await find(by, id, "project:admin");
    if (!(await projects.remove(by.organizationId, id))) throw notFound("project");
  };
}

import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Projects } from "../../ports/projects/projects.ts";

/** Finds a project of the caller's organization and refuses a caller without the permission on it. */
export function findProject({ projects }: { readonly projects: Projects }) {
  return async function (by: Principal, id: string, permission: Permission): Promise<Project> {
    const project = isId("prj", id) ? await projects.find(by.organizationId, id) : undefined;
    if (!project) throw notFound("project");
    demand(by, permission, { id: project.id, projectId: project.id });
    return project;
  };
}

import { Failure } from "../../domain/failure.ts";
import { type Principal } from "../../domain/identity/permission.ts";
import { type Project, slugOf } from "../../domain/projects/project.ts";
import type { ServerRightsPorts } from "./check_server_rights.ts";
import { changeProject } from "./change_project.ts";
import { ensureLinkedProject } from "./ensure_linked_project.ts";
import { checkSlug, createProject, type CreateProjectPorts, type ProjectInput } from "./create_project.ts";

/**
 * Creates a project, or updates the one with that id, else with that slug (upsert). Idempotent, also under concurrency.
 */
export function ensureProject(ports: CreateProjectPorts & ServerRightsPorts) {
  const change = changeProject(ports);
  const create = createProject(ports);
  const ensureLinked = ensureLinkedProject(ports);
  return async function (
    by: Principal,
    input: ProjectInput & { readonly projectId?: string | undefined },
  ): Promise<{ readonly project: Project; readonly created: boolean }> {
    const { projectId, name, settings } = input;
    // A linked installation has chosen the id, so that it is the same on both sides.
    if (projectId !== undefined && by.credential.link) return ensureLinked(by, { ...input, id: projectId });
    if (projectId !== undefined)
      return { project: await change(by, projectId, { name, slug: input.slug, settings }), created: false };
    const slug = input.slug ?? slugOf(name);
    checkSlug(slug);
    const known = await ports.projects.findBySlug(by.organizationId, slug);
    if (known) return { project: await change(by, known.id, { name, settings }), created: false };
    try {
      return { project: await create(by, { ...input, slug }), created: true };
    } catch (error) {
      // A concurrent request has created the same slug meanwhile.
      const rival = isSlugTaken(error) ? await ports.projects.findBySlug(by.organizationId, slug) : undefined;
      if (!rival) throw error;
      return { project: await change(by, rival.id, { name, settings }), created: false };
    }
  };
}

function isSlugTaken(error: unknown): boolean {
  return error instanceof Failure && error.code === "slug_taken";
}

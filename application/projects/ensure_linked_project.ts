import { Failure, invalidField, notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { type Project, slugOf } from "../../domain/projects/project.ts";
import { changeProject } from "./change_project.ts";
import type { ServerRightsPorts } from "./check_server_rights.ts";
import { createProject, type CreateProjectPorts, type IdentifiedInput, randomEnding } from "./create_project.ts";

/** The length of a slug that a suffix fits behind. */
const STEM_LENGTH = 33;

/**
 * Creates the project of a linked installation with the id that it has there, or updates the one with that id. Never
 * matches by slug: another project that has it is another one, so that a taken slug gets a random suffix. Idempotent,
 * also under concurrency.
 */
export function ensureLinkedProject(ports: CreateProjectPorts & ServerRightsPorts) {
  const change = changeProject(ports);
  const create = createProject(ports);
  return async function (
    by: Principal,
    { id, name, slug: wanted = slugOf(name), settings }: IdentifiedInput,
  ): Promise<{ readonly project: Project; readonly created: boolean }> {
    if (!isId("prj", id))
      throw invalidField("projectId", "give the id of a project, such as prj_01m7edka8326kz9mv55sbbg868");
    const isKnown = async () => (await ports.projects.find(by.organizationId, id)) !== undefined;
    const update = async () => ({ project: await change(by, id, { name, settings }), created: false });
    for (let slug = wanted; ; slug = `${stemOf(wanted)}-${randomEnding()}`) {
      if (await isKnown()) return update();
      try {
        return { project: await create(by, { id, name, slug, settings }), created: true };
      } catch (error) {
        const code = error instanceof Failure ? error.code : undefined;
        // Either a concurrent request has created it meanwhile, or the id belongs to another organization.
        if (code === "id_taken") return (await isKnown()) ? update() : missing();
        if (code !== "slug_taken") throw error;
      }
    }
  };
}

function stemOf(slug: string): string {
  return slug.slice(0, STEM_LENGTH).replace(/-+$/, "");
}

function missing(): never {
  throw notFound("project");
}

import type { DomainName } from "../../domain/domains/domain_name.ts";
import { isPreviewLabel } from "../../domain/deployments/preview_label.ts";
import { conflict, invalidField } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import {
  checkSettings,
  checkSources,
  isSlug,
  mergeSettings,
  type Project,
  type ProjectSettingsChange,
  slugOf,
} from "../../domain/projects/project.ts";
import { randomText } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { checkHostPaths } from "./check_host_paths.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";
import { checkServices } from "./check_services.ts";
import { nameLocalPath } from "./name_local_path.ts";
import { nameRepository, type NameRepositoryPorts } from "./name_repository.ts";

export interface ProjectInput {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly settings: ProjectSettingsChange;
}

/** An input whose id the caller has chosen. */
export interface IdentifiedInput extends ProjectInput {
  readonly id: string;
}

export interface CreateProjectPorts extends CheckLocalPathPorts, NameRepositoryPorts, StoreProjectPorts {
  readonly projects: Projects;
}

/** Creates a project with a free host name of its own; a taken one gets a random suffix. */
export function createProject(ports: CreateProjectPorts) {
  const namePath = nameLocalPath(ports);
  const nameGit = nameRepository(ports);
  const checkHost = checkHostPaths(ports);
  const checkGiven = checkServices(ports);
  return async function (by: Principal, input: ProjectInput | IdentifiedInput): Promise<Project> {
    const chosen = "id" in input ? { id: input.id } : undefined;
    demand(by, "project:write", chosen);
    const name = checkName(input.name);
    const slug = input.slug ?? slugOf(name);
    checkSlug(slug);
    checkSources(input.settings);
    const settings = mergeSettings({}, await nameGit(by, await namePath(by, input.settings)));
    checkSettings(settings);
    checkHost(by, { before: {}, change: settings, ...(chosen && { target: chosen }) });
    if (settings.services) await checkGiven(settings.services, { settings });
    const fields = { name, slug, settings, location: "local", serverId: null, ...chosen } as const;
    return storeProject(ports, by, fields, (project, host) => ports.projects.create(project, host));
  };
}

/** The ports that storing a project needs, beyond the one that stores it. */
export interface StoreProjectPorts {
  readonly baseDomain: string;
  readonly clock: Clock;
  /** The API's own host name, which no project may claim. */
  readonly publicHost: string;
}

/** A project before it has a host name. Gets an id if it has none. */
export type NewProject = Pick<Project, "name" | "slug" | "settings" | "location" | "serverId"> &
  Partial<Pick<Project, "id">>;

/**
 * Stores a new project with a free host name of its own; a taken one gets a random suffix. Rejects with `slug_taken`
 * when another project of the organization has its slug, and with `id_taken` when its chosen id cannot be used.
 */
export async function storeProject(
  { baseDomain, clock, publicHost }: StoreProjectPorts,
  { organizationId }: Principal,
  fields: NewProject,
  create: Projects["create"],
): Promise<Project> {
  const { slug } = fields;
  const at = clock.now();
  const first = isPreviewLabel(slug) ? `${slug}-${randomEnding()}` : slug;
  for (let label = first; ; label = `${slug}-${randomEnding()}`) {
    const hostname = `${label}.${baseDomain}`;
    if (hostname === publicHost) continue;
    const project: Project = {
      id: newId("prj", at),
      organizationId,
      ...fields,
      hostname,
      activeDeploymentId: null,
      createdAt: at,
      updatedAt: at,
    };
    const outcome = await create(project, freeName(project));
    if (outcome === "created") return project;
    if (outcome === "slug_taken") throw slugTaken(slug);
    if (outcome === "id_taken" && fields.id !== undefined) throw conflict("id_taken", "Cannot use this project id");
  }
}

function freeName({ id, organizationId, hostname, createdAt }: Project): DomainName {
  return {
    id: newId("dom", createdAt),
    organizationId,
    projectId: id,
    hostname,
    type: "free",
    proof: randomText(),
    verifiedAt: createdAt,
    createdAt,
  };
}

/** A random suffix of six characters, to make a taken label unique. */
export function randomEnding(): string {
  return randomText()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(0, 6);
}

/** Trims a project's name; refuses an empty one, and control characters. */
export function checkName(text: string): string {
  return readName(text, "give the project a name");
}

/** Refuses a slug that cannot be a host label. */
export function checkSlug(slug: string): void {
  if (!isSlug(slug)) throw invalidField("slug", "use lower-case letters, digits and -, at most 40, not at the ends");
}

/** The failure for a slug that another project of the organization has. */
export function slugTaken(slug: string) {
  return conflict("slug_taken", `Cannot use the slug "${slug}": another project of your organization has it`);
}

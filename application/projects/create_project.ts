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
  type ProjectSettings,
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

export interface CreateProjectPorts extends CheckLocalPathPorts, NameRepositoryPorts {
  readonly baseDomain: string;
  readonly clock: Clock;
  readonly projects: Projects;
  /** The API's own host name, which no project may claim. */
  readonly publicHost: string;
}

/** Creates a project with a free host name of its own; a taken one gets a random suffix. */
export function createProject(ports: CreateProjectPorts) {
  const namePath = nameLocalPath(ports);
  const nameGit = nameRepository(ports);
  const checkHost = checkHostPaths(ports);
  const checkGiven = checkServices(ports);
  return async function (by: Principal, input: ProjectInput): Promise<Project> {
    demand(by, "project:write");
    const name = checkName(input.name);
    const slug = input.slug ?? slugOf(name);
    checkSlug(slug);
    checkSources(input.settings);
    const settings = mergeSettings({}, await nameGit(by, await namePath(by, input.settings)));
    checkSettings(settings);
    checkHost(by, { before: {}, change: settings });
    if (settings.services) await checkGiven(settings.services, { settings });
    return store(ports, by, { name, slug, settings });
  };
}

async function store(
  { baseDomain, clock, projects, publicHost }: CreateProjectPorts,
  { organizationId }: Principal,
  { name, slug, settings }: { readonly name: string; readonly slug: string; readonly settings: ProjectSettings },
): Promise<Project> {
  const at = clock.now();
  const first = isPreviewLabel(slug) ? `${slug}-${randomEnding()}` : slug;
  for (let label = first; ; label = `${slug}-${randomEnding()}`) {
    const hostname = `${label}.${baseDomain}`;
    if (hostname === publicHost) continue;
    const project: Project = {
      id: newId("prj", at),
      organizationId,
      name,
      slug,
      hostname,
      settings,
      location: "local",
      serverId: null,
      activeDeploymentId: null,
      createdAt: at,
      updatedAt: at,
    };
    const outcome = await projects.create(project, freeName(project));
    if (outcome === "created") return project;
    if (outcome === "slug_taken") throw slugTaken(slug);
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

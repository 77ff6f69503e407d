import { conflict, type Failure, invalidField } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { type Adoption, adoptionOf } from "../../domain/migration/adoption.ts";
import { chosenServices } from "../../domain/migration/chosen_services.ts";
import { checkSettings, type Project, type ProjectSettings, slugOf } from "../../domain/projects/project.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { checkName, storeProject, type StoreProjectPorts } from "../projects/create_project.ts";
import { findServer } from "../servers/find_server.ts";
import { type InspectOptions, inspectServer, type InspectServerPorts } from "./inspect_server.ts";

/** Entries of a list in the settings of a project. */
const MAX_ENTRIES = 100;

export interface AdoptServicesPorts extends InspectServerPorts, StoreProjectPorts {
  readonly adoptions: Adoptions;
  readonly projects: Projects;
}

export interface AdoptInput {
  readonly serverId: string;
  readonly projectName: string;
  /** Keys of services, or bare names that are unique on the server. */
  readonly serviceNames: readonly string[];
}

/** The created project, and what it took over. */
export interface AdoptedProject {
  readonly project: Project;
  readonly adoption: Adoption;
}

/**
 * Creates a project from services that run on a server, as they are found there now. Nothing on the server changes, and
 * nothing is deployed.
 */
export function adoptServices(ports: AdoptServicesPorts) {
  const inspect = inspectServer(ports);
  const find = findServer(ports);
  return async function (by: Principal, input: AdoptInput, options?: InspectOptions): Promise<AdoptedProject> {
    const { serverId, serviceNames } = input;
    await find(by, serverId, "server:write");
    const name = projectName(input.projectName);
    const slug = slugOf(name);
    // Before the server is asked, which takes a while. Storing the project decides.
    if (await ports.projects.findBySlug(by.organizationId, slug)) throw nameTaken(name);
    const { stack } = await inspect(by, serverId, options);
    const chosen = chosenServices(stack, serviceNames);
    checkCount(chosen.flatMap(({ containers }) => containers).length, "services, and these are", "containers");
    const adoption = adoptionOf(chosen, serverId);
    const settings: ProjectSettings = {
      projectType: "services",
      services: adoption.services.map(({ definition }) => definition),
    };
    checkSettings(settings);
    const fields = { name, slug, settings, location: "server", serverId } as const;
    const project = await storeProject(ports, by, fields, async (stored, freeName) => {
      const outcome = await ports.adoptions.create(stored, freeName, adoption);
      if (outcome === "slug_taken") throw nameTaken(name);
      return outcome;
    });
    return { project, adoption };
  };
}

function nameTaken(name: string): Failure {
  return conflict(
    "name_taken",
    `Cannot create the project "${name}": your organization has a project of that name. Choose another projectName`,
  );
}

/** Refuses an adoption with more of something than the settings of a project can have. */
function checkCount(count: number, before: string, after: string): void {
  if (count <= MAX_ENTRIES) return;
  const why = `a project has at most ${MAX_ENTRIES} ${before} ${count} ${after}`;
  throw invalidField("serviceNames", `${why}. Adopt them as several projects`);
}

function projectName(text: string): string {
  try {
    return checkName(text);
  } catch (error) {
    // The field is called differently here.
    const why = (error as Failure).details?.[0]?.message ?? "give the project a name";
    throw invalidField("projectName", why);
  }
}

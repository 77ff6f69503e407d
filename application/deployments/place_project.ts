import { invalid, invalidField } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Project, ProjectLocation } from "../../domain/projects/project.ts";
import type { Adoptions } from "../../ports/migration/adoptions.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { findServer } from "../servers/find_server.ts";

export interface PlaceProjectPorts {
  readonly adoptions: Adoptions;
  readonly clock: Clock;
  readonly projects: Projects;
  readonly servers: Servers;
}

/** Where a request wants a project deployed; absent: where it is. */
export interface WantedPlace {
  readonly deployTarget?: ProjectLocation;
  readonly serverId?: string;
}

/**
 * Returns a project as it is once it has moved to where a request wants it deployed, for this deployment and all later
 * ones. Moving needs `project:write` (`project:admin` if it may use paths of the host), and `server:write` on the server
 * that it moves to (`server:admin` if it was adopted). Stores nothing.
 */
export function placeProject({ adoptions, servers }: Pick<PlaceProjectPorts, "adoptions" | "servers">) {
  const find = findServer({ servers });
  return async function (by: Principal, project: Project, wanted: WantedPlace): Promise<Project> {
    const target = targetOf(project, wanted);
    const serverId = target === "server" ? (wanted.serverId ?? project.serverId) : null;
    if (target === "server" && serverId === null) {
      throw invalidField("serverId", "name the server to deploy to");
    }
    if (target !== "server" && wanted.serverId !== undefined) {
      throw invalidField("serverId", 'a server is only for the deploy target "server"');
    }
    if (target === project.location && serverId === project.serverId) return project;
    if (serverId !== null) await find(by, serverId, "server:write");
    const itself = { id: project.id, projectId: project.id };
    // What an admin allowed it to use of one machine would count for another one.
    demand(by, project.settings.hostPaths?.length ? "project:admin" : "project:write", itself);
    // Adopted containers may do there whatever they could do where they were adopted.
    const isAdopted = serverId !== null && (await adoptions.list(project.id)).length > 0;
    if (isAdopted) demand(by, "server:admin", { id: serverId });
    return { ...project, location: target, serverId };
  };
}

/** Stores where a project runs from now on, if that has changed. */
export async function storePlace(
  { clock, projects }: PlaceProjectPorts,
  before: Project,
  after: Project,
): Promise<void> {
  const { id, location, organizationId, serverId } = after;
  if (location === before.location && serverId === before.serverId) return;
  await projects.change(organizationId, id, { at: clock.now(), change: () => ({ place: { location, serverId } }) });
}

function targetOf({ location }: Project, { deployTarget, serverId }: WantedPlace): "local" | "server" {
  const target = deployTarget ?? (serverId === undefined ? location : "server");
  if (target !== "cloud") return target;
  throw invalid(
    "target_unsupported",
    "Cannot deploy this here: it runs in the cloud. Deploy it there, or move it back",
  );
}

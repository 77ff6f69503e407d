import { notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import {
  checkSettings,
  checkSources,
  mergeSettings,
  type Project,
  type ProjectSettingsChange,
} from "../../domain/projects/project.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { checkHostPaths } from "./check_host_paths.ts";
import { checkServices } from "./check_services.ts";
import { checkName, checkSlug } from "./create_project.ts";
import { findProject } from "./find_project.ts";
import { nameLocalPath } from "./name_local_path.ts";
import { nameRepository, type NameRepositoryPorts } from "./name_repository.ts";
import { checkServerRights, type ServerRightsPorts } from "./check_server_rights.ts";
import type { CheckLocalPathPorts } from "./check_local_path.ts";

export interface ChangeProjectPorts extends CheckLocalPathPorts, NameRepositoryPorts, ServerRightsPorts {
  readonly clock: Clock;
  readonly projects: Projects;
}

export interface ProjectAmendment {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly settings: ProjectSettingsChange;
}

/** Changes the given fields of a project and validates the merged result. */
export function changeProject(ports: ChangeProjectPorts) {
  const find = findProject(ports);
  const namePath = nameLocalPath(ports);
  const nameGit = nameRepository(ports);
  const checkHost = checkHostPaths(ports);
  const checkGiven = checkServices(ports);
  const checkServer = checkServerRights(ports);
  return async function (by: Principal, id: string, amendment: ProjectAmendment): Promise<Project> {
    const found = await find(by, id, "project:write");
    await checkServer(by, found, amendment.settings);
    const name = amendment.name === undefined ? undefined : checkName(amendment.name);
    if (amendment.slug !== undefined) checkSlug(amendment.slug);
    const wanted = await nameGit(by, await namePath(by, amendment.settings), found.settings);
    if (wanted.services) {
      // Permission first: validation messages must not reveal anything to callers who may not allow host paths.
      checkHost(by, { before: found.settings, change: wanted, target: { id, projectId: id } });
      const { location } = found;
      const adopted = location === "server" ? await ports.adoptions.list(id) : [];
      await checkGiven(wanted.services, { settings: mergeSettings(found.settings, wanted), location, adopted });
    }
    const changed = await ports.projects.change(by.organizationId, id, {
      at: ports.clock.now(),
      change({ settings }) {
        checkHost(by, { before: settings, change: wanted, target: { id, projectId: id } });
        checkSources(wanted);
        // Without the approval gate, builds start without a person's approval.
        if (settings.requireApproval && wanted.requireApproval !== undefined && !wanted.requireApproval) {
          demand(by, "deployment:admin", { id: "", projectId: id });
        }
        const merged = mergeSettings(settings, wanted);
        checkSettings(merged);
        return {
          settings: merged,
          ...(name !== undefined && { name }),
          ...(amendment.slug !== undefined && { slug: amendment.slug }),
        };
      },
    });
    if (!changed) throw notFound("project");
    return changed;
  };
}

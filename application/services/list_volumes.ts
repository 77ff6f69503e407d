import type { Environment } from "../../domain/deployments/deployment.ts";
import { isEngineAway } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { Installation } from "../../ports/identity/installation.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { ServerEngines } from "../../ports/servers/server_engines.ts";
import type { Volumes } from "../../ports/services/volumes.ts";
import { findProject } from "../projects/find_project.ts";
import { placedPorts } from "./placed_ports.ts";
import { volumeScopes } from "./volume_scopes.ts";

export interface ListVolumesPorts {
  readonly deployments: Deployments;
  readonly installation: Installation;
  readonly projects: Projects;
  readonly serverEngines: ServerEngines;
  readonly volumes: Volumes;
}

/** A volume of a project. */
export interface ProjectVolume {
  readonly name: string;
  readonly environment: Environment;
  /** The preview that it belongs to; `null` for a volume that all releases of the project share. */
  readonly deploymentId: string | null;
  /** `null` when the size is unknown or was not measured in time. */
  readonly sizeBytes: number | null;
}

/**
 * Lists the volumes of a project and of its previews with their sizes; does not query the container engine for a
 * project that runs as processes.
 */
export function listVolumes(ports: ListVolumesPorts) {
  const find = findProject(ports);
  const { deployments, installation } = ports;
  return async function (by: Principal, id: string): Promise<readonly ProjectVolume[]> {
    const project = await find(by, id, "project:read");
    const { volumes } = placedPorts(ports, project.serverId);
    const ofProject = await deployments.ofProject(id);
    const { scopes, isInContainers } = volumeScopes(id, ofProject);
    // Deleted deployments may have left volumes behind.
    const mayHave = isInContainers || (ofProject.length === 0 && (await installation.usesContainers()));
    if (!mayHave) return [];
    const found = await volumes.measure(scopes).catch((error: unknown) => {
      if (isEngineAway(error) && !isInContainers) return [];
      throw error;
    });
    return found
      .toSorted((a, b) => scopes.indexOf(a.scope) - scopes.indexOf(b.scope) || (a.name < b.name ? -1 : 1))
      .map(({ scope, name, sizeBytes }) => ({
        name,
        environment: scope === id ? "production" : "preview",
        deploymentId: scope === id ? null : scope,
        sizeBytes,
      }));
  };
}

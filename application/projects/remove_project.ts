import { conflict, Failure, isEngineAway, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { Installation } from "../../ports/identity/installation.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Runtime } from "../../ports/services/runtime.ts";
import type { ServerEngines } from "../../ports/servers/server_engines.ts";
import type { Volumes } from "../../ports/services/volumes.ts";
import { cancelAll, type CancelAllPorts } from "../deployments/cancel_all.ts";
import { instancesAt } from "../services/instances_at.ts";
import { stopInstances } from "../services/stop_instances.ts";
import { stopServing, type StopServingPorts } from "../deployments/stop_serving.ts";
import { answerInTime, type AnswerInTimePorts } from "../system/answer_in_time.ts";
import { findProject } from "./find_project.ts";
import { placedPorts } from "../services/placed_ports.ts";
import { volumeScopes, type VolumeScopes } from "../services/volume_scopes.ts";

export interface RemoveProjectPorts extends CancelAllPorts, StopServingPorts, AnswerInTimePorts {
  readonly installation: Installation;
  readonly projects: Projects;
  readonly runtime: Runtime;
  readonly serverEngines: ServerEngines;
  readonly volumes: Volumes;
}

/** Options of a project removal. */
export interface RemovalOptions {
  /** Whether to remove the volumes of the project and its previews as well. Defaults to `false`. */
  readonly volumes?: boolean;
}

/**
 * Removes a project with its variables, names and deployments. Resolves once nothing of it serves any more: running
 * deployments have ended, no edge of any process routes to it, and its instances are stopped. Keeps volumes unless
 * `volumes` is set; then it removes nothing at all while the container engine that keeps them is unavailable. Rejects
 * with an `unavailable` failure, code `removal_takes_long`, when that exceeds the response timeout; a repeated request
 * meanwhile waits for the same removal.
 */
export function removeProject(ports: RemoveProjectPorts) {
  const { deployments, installation, projects } = ports;
  const find = findProject(ports);
  const endAll = cancelAll(ports);
  const inTime = answerInTime(ports);
  const underWay = new Map<string, Promise<VolumeScopes>>();
  return async function (by: Principal, id: string, options: RemovalOptions = {}): Promise<void> {
    const project = await find(by, id, "project:admin");
    const { volumes } = placedPorts(ports, project.serverId);
    if (options.volumes) await askForVolumes(volumes, id);
    let removal = underWay.get(id);
    if (!removal) {
      removal = remove(project).finally(() => underWay.delete(id));
      underWay.set(id, removal);
    }
    const rest = removal.then((kept) => (options.volumes ? removeVolumes(volumes, kept) : undefined));
    await inTime(rest, takesLong);
  };

  /** Rejects while volumes that are to be removed cannot be, because the engine is unavailable. */
  async function askForVolumes(volumes: Volumes, id: string): Promise<void> {
    const { isInContainers } = volumeScopes(id, await deployments.ofProject(id));
    if (isInContainers) await volumes.list(id);
  }

  async function remove({ id, organizationId }: Project): Promise<VolumeScopes> {
    // A running deployment routes traffic to itself at its end, so it must have ended first.
    await endAll(id);
    const all = await deployments.ofProject(id);
    const kept = volumeScopes(id, all);
    if (!(await projects.remove(organizationId, id))) throw notFound("project");
    // If the server is killed here, the sweep removes the rest.
    const own = (await instancesAt(ports, all)).filter(({ projectId }) => projectId === id);
    await Promise.all([stopServing(ports, kept.scopes), stopInstances(ports, own)]);
    return kept;
  }

  /** Runs once nothing uses the volumes any more; those of other projects are in other scopes. */
  async function removeVolumes(volumes: Volumes, { scopes, isInContainers }: VolumeScopes): Promise<void> {
    if (!isInContainers && !(await installation.usesContainers())) return;
    try {
      for (const scope of scopes) await volumes.remove(scope);
      const left = (await Promise.all(scopes.map((scope) => volumes.list(scope)))).flat();
      if (left.length > 0) throw stillUsed(left.map(({ name }) => name));
    } catch (error) {
      if (isInContainers || !isEngineAway(error)) throw error;
    }
  }
}

function stillUsed(names: readonly string[]): Failure {
  const quoted = [...new Set(names)].map((name) => JSON.stringify(name)).join(", ");
  const message = `Cannot remove all volumes of the project: ${quoted} is still in use. The project is deleted; stop what uses it, then remove it with Docker`;
  return conflict("volumes_left", message);
}

function takesLong(): Failure {
  const message =
    "Cannot confirm yet that the project has stopped: some services take long to stop. The removal continues in the background; the project is gone when it cannot be found";
  return new Failure("unavailable", "removal_takes_long", message, { retryAfter: 10 });
}

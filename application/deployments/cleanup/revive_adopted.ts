import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { isRunning } from "../../../domain/deployments/transitions.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Deployments } from "../../../ports/deployments/deployments.ts";
import type { ServerEngines } from "../../../ports/servers/server_engines.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import { type AdoptedPorts, adoptedInstanceOf } from "../adopted_services.ts";

/** How long after a failed deployment its adopted containers are started again; later, a person may have stopped them. */
const RECENT_MS = 3_600_000;

export interface ReviveAdoptedPorts extends AdoptedPorts {
  readonly clock: Clock;
  readonly deployments: Deployments;
  readonly serverEngines: ServerEngines;
}

/**
 * Starts the adopted containers again that a failed first deployment has stopped and could not start, because their
 * server could not be reached by then.
 */
export function reviveAdopted(ports: ReviveAdoptedPorts) {
  const { adoptions, clock, deployments, serverEngines } = ports;
  return async function (): Promise<void> {
    for (const projectId of await adoptions.unsettled()) {
      const failed = interrupted(await deployments.ofProject(projectId), clock.now());
      if (!failed) continue;
      for (const adopted of await adoptions.list(projectId)) {
        if (!adopted.running) continue;
        const { adoptedContainers } = serverEngines.of(adopted.serverId);
        // One that cannot be started now is tried again by the next sweep.
        await adoptedContainers.resume(adoptedInstanceOf(failed, adopted)).catch((error: unknown) => {
          if (!(error instanceof Failure)) throw error;
        });
      }
    }
  };
}

/** The last deployment of a project, if it ended a short while ago after it had begun to replace containers. */
function interrupted(all: readonly Deployment[], now: Date): Deployment | undefined {
  if (all.some((deployment) => isRunning(deployment) || deployment.pendingDecision !== null)) return undefined;
  const last = all.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())[0];
  if (!last?.finishedAt || !last.steps.some(({ name }) => name === "start")) return undefined;
  return now.getTime() - last.finishedAt.getTime() < RECENT_MS ? last : undefined;
}

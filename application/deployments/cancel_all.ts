import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning } from "../../domain/deployments/transitions.ts";
import type { DeploymentQueue } from "../../ports/deployments/deployment_queue.ts";
import { askToCancel, type CancelDeploymentPorts } from "./cancel_deployment.ts";
import { dropUpload } from "./drop_upload.ts";

const LOOK_MS = 100;

export interface CancelAllPorts extends CancelDeploymentPorts {
  readonly deploymentQueue: Pick<DeploymentQueue, "isTaken">;
}

/** Within this time a worker takes up what is to be taken; what nobody took by then nobody carries out. */
const TAKE_UP_MS = 2_000;

/**
 * Cancels all that has not finished of a project, and resolves once nobody carries out anything of it, decisions
 * included.
 */
export function cancelAll(ports: CancelAllPorts) {
  const { clock, deploymentQueue, deployments } = ports;
  return async function (projectId: string): Promise<void> {
    let idleSince = performance.now();
    for (;;) {
      const busy = (await deployments.ofProject(projectId)).filter(isBusy);
      const isTaken = await deploymentQueue.isTaken(projectId);
      if (isTaken) idleSince = performance.now();
      else if (busy.length === 0 || performance.now() - idleSince > TAKE_UP_MS) return;
      for (const deployment of busy) await cancel(deployment);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };

  async function cancel({ id, cancelRequested, status }: Deployment): Promise<void> {
    if (cancelRequested || status === "partial_failure") return;
    const asked = await deployments.change(id, (deployment) =>
      isRunning(deployment) ? askToCancel(deployment, clock.now()) : undefined,
    );
    if (asked?.status === "cancelled") await dropUpload(ports, asked);
  }
}

/** Whether a worker carries it out or will. */
function isBusy(deployment: Deployment): boolean {
  return isRunning(deployment) || deployment.asked !== null;
}

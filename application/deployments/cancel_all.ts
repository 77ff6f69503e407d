import type { Deployment } from "../../domain/deployments/deployment.ts";
import { isRunning } from "../../domain/deployments/transitions.ts";
import type { DeploymentQueue } from "../../ports/deployments/deployment_queue.ts";
import { cancellation, type CancelDeploymentPorts } from "./cancel_deployment.ts";
import { dropUpload } from "./cleanup/drop_upload.ts";

const LOOK_MS = 100;

export interface CancelAllPorts extends CancelDeploymentPorts {
  readonly deploymentQueue: Pick<DeploymentQueue, "isTaken">;
}

/** A worker takes waiting work within this time. Work that is still not taken then is not running anywhere. */
const TAKE_UP_MS = 2_000;

/** Cancels every unfinished deployment of a project, and resolves once no worker runs any of them or any decision. */
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
    const changed = await deployments.change(id, (deployment) =>
      isRunning(deployment) ? cancellation(deployment, clock.now()) : undefined,
    );
    if (changed?.status === "cancelled") await dropUpload(ports, changed);
  }
}

/** Whether a worker runs it or will. */
function isBusy(deployment: Deployment): boolean {
  return isRunning(deployment) || deployment.pendingDecision !== null;
}

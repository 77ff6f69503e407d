import type { Deployment } from "../../domain/deployment/deployment.ts";
import { happen, isRunning } from "../../domain/deployment/transitions.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DeploymentQueue } from "../../ports/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments.ts";
import { findDeployment } from "./find_deployment.ts";
import { keepUpload, type KeepUploadPorts } from "./keep_upload.ts";

const SETTLE_MS = 20_000;
const LOOK_MS = 50;

export interface CancelDeploymentPorts extends KeepUploadPorts {
  readonly clock: Clock;
  readonly deploymentQueue: DeploymentQueue;
  readonly deployments: Deployments;
}

/** Cancels a deployment that has not finished, and waits until nothing of it runs any more. */
export function cancelDeployment(ports: CancelDeploymentPorts) {
  const { clock, deploymentQueue, deployments } = ports;
  const find = findDeployment(ports);
  return async function (by: Principal, id: string): Promise<Deployment> {
    const found = await find(by, id, "deployment:write");
    demand(by, "deployment:admin", { id, projectId: found.projectId });
    let asked = await deployments.change(id, (deployment) => askToCancel(deployment, clock.now()));
    if (!asked) throw notFound("deployment");
    if (asked.status === "cancelled") await keepUpload(ports, asked);
    await deploymentQueue.announce();
    for (let waited = 0; isRunning(asked) && waited < SETTLE_MS; waited += LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      asked = (await deployments.get(id)) ?? asked;
    }
    if (!isRunning(asked) && asked.status !== "cancelled") throw notCancellable(asked);
    return asked;
  };
}

/** Asks a deployment that has not finished to end: one that was never begun ends at once, a worker ends any other. */
export function askToCancel(deployment: Deployment, at: Date) {
  if (!isRunning(deployment)) throw notCancellable(deployment);
  // A worker knows what there is of one that was begun, and removes it; one that waits for an answer becomes its work
  // by this.
  if (deployment.status !== "queued")
    return { deployment: { ...deployment, held: false, cancelRequested: true }, events: [] };
  const ended = { ...happen(deployment, "cancelled", { at }), held: false, cancelRequested: true };
  const { status, decision } = ended;
  return {
    deployment: ended,
    events: [
      { type: "status", status, decision },
      { type: "end", status, decision, error: null },
    ] as const,
  };
}

function notCancellable({ status }: Deployment) {
  return invalid("deployment_not_movable", `Cannot cancel this deployment: its status is "${status}"`);
}

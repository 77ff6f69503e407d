import type { Deployment } from "../../domain/deployments/deployment.ts";
import { transition, isRunning } from "../../domain/deployments/transitions.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { awaitDeployment, type AwaitDeploymentPorts } from "./await_deployment.ts";
import { findDeployment } from "./find_deployment.ts";
import { copyUpload, keepUpload, type KeepUploadPorts } from "./keep_upload.ts";

/** Shorter than the idle timeout of a connection. */
const SETTLE_MS = 50_000;

export interface CancelDeploymentPorts extends AwaitDeploymentPorts, KeepUploadPorts {
  readonly clock: Clock;
}

/** Cancels an unfinished deployment, and waits until nothing of it runs any more. */
export function cancelDeployment(
  ports: CancelDeploymentPorts,
  { settleMs = SETTLE_MS }: { readonly settleMs?: number } = {},
) {
  const { clock, deployments } = ports;
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<Deployment> {
    const found = await find(by, id, "deployment:write");
    demand(by, "deployment:admin", { id, projectId: found.projectId });
    if (found.status === "queued") await copyUpload(ports, found);
    const asked = await deployments.change(id, (deployment) => askToCancel(deployment, clock.now()));
    if (!asked) throw notFound("deployment");
    if (asked.status === "cancelled") await keepUpload(ports, asked);
    if (!isRunning(asked)) return asked;
    const waiting = { until: (deployment: Deployment) => !isRunning(deployment), limitMs: settleMs, signal };
    const settled = (await awaitDeployment(ports, id, waiting)) ?? asked;
    if (isRunning(settled)) throw takesLong();
    if (settled.status !== "cancelled") throw notCancellable(settled);
    return settled;
  };
}

/** Requests the cancellation of an unfinished deployment. A queued one ends at once; a worker ends any other. */
export function askToCancel(deployment: Deployment, at: Date) {
  if (!isRunning(deployment)) throw notCancellable(deployment);
  // A worker knows what a started deployment has created, and removes it. Clearing `held` lets a worker take one that
  // waits for an approval.
  if (deployment.status !== "queued")
    return { deployment: { ...deployment, held: false, cancelRequested: true }, events: [] };
  const ended = { ...transition(deployment, "cancelled", { at }), held: false, cancelRequested: true };
  const { status, decision } = ended;
  return {
    deployment: ended,
    events: [
      { type: "status", status, decision },
      { type: "end", status, decision, error: null },
    ] as const,
  };
}

function takesLong(): Failure {
  const message = "The deployment is still being cancelled: read it again in a moment";
  return new Failure("unavailable", "cancel_takes_long", message, { retryAfter: 5 });
}

function notCancellable({ status }: Deployment) {
  return invalid("deployment_not_movable", `Cannot cancel this deployment: its status is "${status}"`);
}

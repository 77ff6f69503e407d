import type { Deployment } from "../../domain/deployments/deployment.ts";
import { notCancellable, requestCancel } from "../../domain/deployments/requests.ts";
import { isRunning } from "../../domain/deployments/transitions.ts";
import { Failure, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { RESPONSE_TIMEOUT_MS } from "../system/response_timeout.ts";
import { awaitDeployment, type AwaitDeploymentPorts } from "./await_deployment.ts";
import { findDeployment } from "./find_deployment.ts";
import { copyUpload, keepUpload, type KeepUploadPorts } from "./cleanup/keep_upload.ts";

export interface CancelDeploymentPorts extends AwaitDeploymentPorts, KeepUploadPorts {
  readonly clock: Clock;
}

/** Cancels an unfinished deployment, and waits until nothing of it runs any more. */
export function cancelDeployment(
  ports: CancelDeploymentPorts,
  { settleMs = RESPONSE_TIMEOUT_MS }: { readonly settleMs?: number } = {},
) {
  const { clock, deployments } = ports;
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<Deployment> {
    const found = await find(by, id, "deployment:write");
    demand(by, "deployment:admin", { id, projectId: found.projectId });
    if (found.status === "queued") await copyUpload(ports, found);
    const requested = await deployments.change(id, (deployment) => cancellation(deployment, clock.now()));
    if (!requested) throw notFound("deployment");
    if (requested.status === "cancelled") await keepUpload(ports, requested);
    if (!isRunning(requested)) return requested;
    const waiting = { until: (deployment: Deployment) => !isRunning(deployment), limitMs: settleMs, signal };
    const settled = (await awaitDeployment(ports, id, waiting)) ?? requested;
    if (isRunning(settled)) throw takesLong();
    if (settled.status !== "cancelled") throw notCancellable(settled);
    return settled;
  };
}

/** The change that requests the cancellation of an unfinished deployment, with the events of one that ends at once. */
export function cancellation(deployment: Deployment, at: Date) {
  const requested = requestCancel(deployment, at);
  const { status, decision } = requested;
  const events = [
    { type: "status", status, decision },
    { type: "end", status, decision, error: null },
  ] as const;
  return { deployment: requested, events: isRunning(requested) ? [] : events };
}

function takesLong(): Failure {
  const message = "The deployment is still being cancelled: read it again in a moment";
  return new Failure("unavailable", "cancel_takes_long", message, { retryAfter: 5 });
}

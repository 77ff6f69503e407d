import type { Deployment } from "./deployment.ts";
import type { NewEvent } from "./deployment_event.ts";

/** Returns what a deployment waits for and what to do about it; `null` when it is not waiting. */
export function waitingReason(deployment: Deployment): string | null {
  const { id, status, held, prompt, pullRequest, waitingFor, decision } = deployment;
  if (status === "queued" && held && pullRequest) {
    const approver = pullRequest.fork
      ? "an admin, because its pull request comes from a fork"
      : "somebody who may deploy";
    return `It waits for the approval of ${approver}. Approve it with POST /api/deployments/${id}/build, or refuse it with /cancel`;
  }
  if (status === "queued" && held) return `It is held. Start it with POST /api/deployments/${id}/build`;
  if (status === "queued" && waitingFor !== null) return `It waits for deployment ${waitingFor} of the same project`;
  if (status === "queued") return "It waits for its turn to be built";
  if (status === "building" && prompt && prompt.answer === null) {
    const until = prompt.expiresAt.toISOString();
    return `Its build waits for an approval until ${until}. Answer with POST /api/deployments/${id}/build/respond`;
  }
  if (status === "partial_failure" && decision === "pending") {
    return `It waits for a decision. Keep the services that came up with POST /api/deployments/${id}/keep, or go back with /reject`;
  }
  return null;
}

/** Returns the line of the deployment's log that says what it waits for. */
export function waitingLine(deployment: Deployment, at: Date): NewEvent {
  const message = waitingReason(deployment) ?? "It waits";
  return { type: "log", at, level: "info", step: null, service: null, stream: "slipway", message };
}

import { invalid } from "../failure.ts";
import type { Decision, Deployment, DeploymentError, DeploymentStatus } from "./deployment.ts";

/** What can happen to a deployment. */
export type DeploymentTransition =
  | "taken"
  | "built"
  | "healthy"
  | "partly_healthy"
  | "failed"
  | "cancelled"
  | "kept"
  | "rejected"
  | "superseded";

interface Move {
  readonly to: DeploymentStatus;
  readonly decision?: Decision;
}

/** Every change of status there is; nothing else changes one. */
const MOVES: Readonly<Record<DeploymentStatus, Readonly<Partial<Record<DeploymentTransition, Move>>>>> = {
  queued: {
    taken: { to: "building" },
    failed: { to: "failed" },
    cancelled: { to: "cancelled" },
    superseded: { to: "superseded" },
  },
  building: { built: { to: "deploying" }, failed: { to: "failed" }, cancelled: { to: "cancelled" } },
  deploying: {
    healthy: { to: "ready" },
    partly_healthy: { to: "partial_failure", decision: "pending" },
    failed: { to: "failed" },
    cancelled: { to: "cancelled" },
  },
  partial_failure: { kept: { to: "ready", decision: "kept" }, rejected: { to: "rejected", decision: "rejected" } },
  ready: {},
  failed: {},
  cancelled: {},
  rejected: {},
  superseded: {},
};

/** Tells whether something can still happen to a deployment by itself; a pending decision waits for a person. */
export function isRunning({ status }: Pick<Deployment, "status">): boolean {
  return status === "queued" || status === "building" || status === "deploying";
}

/** Tells whether a deployment has come to an end, or waits for a decision; its feed of events ends here. */
export function isSettled(deployment: Pick<Deployment, "status">): boolean {
  return !isRunning(deployment);
}

/** Tells whether later deployments of the same project have to wait for this one. */
export function occupies({ status }: Pick<Deployment, "status">): boolean {
  return status === "building" || status === "deploying" || status === "partial_failure";
}

/** Tells whether a deployment is a preview that visitors get; one that was cleaned up is not. */
export function servesAsPreview({
  environment,
  status,
  artifactAvailable,
}: Pick<Deployment, "environment" | "status" | "artifactAvailable">): boolean {
  return environment === "preview" && status === "ready" && artifactAvailable;
}

/** Applies what happened, or fails when it cannot happen in this status. */
export function transition(
  deployment: Deployment,
  what: DeploymentTransition,
  { at, error = null }: { readonly at: Date; readonly error?: DeploymentError | null },
): Deployment {
  const move = MOVES[deployment.status][what];
  if (!move) throw notPossible(deployment.status, what);
  const next = { ...deployment, status: move.to, decision: move.decision ?? deployment.decision };
  const { status } = next;
  return {
    ...next,
    error: error ?? deployment.error,
    waitingFor: null,
    prompt: what === "built" || !isRunning(next) ? null : deployment.prompt,
    startedAt: what === "taken" ? at : deployment.startedAt,
    builtAt: what === "built" ? at : deployment.builtAt,
    finishedAt: status === "building" || status === "deploying" ? null : at,
    ...(what === "partly_healthy" && next.startedAt && { workMs: at.getTime() - next.startedAt.getTime() }),
  };
}

/**
 * How long a deployment that has come to an end was worked on, in milliseconds; neither a wait for a decision nor the
 * decision counts.
 */
export function workDurationMs({
  startedAt,
  finishedAt,
  workMs,
}: Pick<Deployment, "startedAt" | "finishedAt" | "workMs">): number | null {
  return workMs ?? (startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null);
}

const DONE: Readonly<Partial<Record<DeploymentTransition, string>>> = {
  cancelled: "cancel this deployment",
  kept: "keep this deployment",
  rejected: "reject this deployment",
};

function notPossible(status: DeploymentStatus, what: DeploymentTransition) {
  const act = DONE[what] ?? `move this deployment on ("${what}")`;
  return invalid("deployment_not_movable", `Cannot ${act}: its status is "${status}"`);
}

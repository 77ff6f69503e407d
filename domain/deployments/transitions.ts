import { invalid } from "../failure.ts";
import type { Decision, Deployment, DeploymentError, DeploymentStatus } from "./deployment.ts";

/** The transitions of a deployment's state machine. */
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

/** All allowed status changes; nothing else changes a status. */
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

/** Returns whether a deployment is queued or in progress; a pending decision waits for a person and does not count. */
export function isRunning({ status }: Pick<Deployment, "status">): boolean {
  return status === "queued" || status === "building" || status === "deploying";
}

/** Returns whether a deployment has finished or awaits a decision. Its event stream ends then. */
export function isSettled(deployment: Pick<Deployment, "status">): boolean {
  return !isRunning(deployment);
}

/** Returns whether later deployments of the same project must wait for this one. */
export function occupies({ status }: Pick<Deployment, "status">): boolean {
  return status === "building" || status === "deploying" || status === "partial_failure";
}

/** Returns whether a deployment is a preview that serves visitors; one that was cleaned up does not. */
export function servesAsPreview({
  environment,
  status,
  artifactAvailable,
}: Pick<Deployment, "environment" | "status" | "artifactAvailable">): boolean {
  return environment === "preview" && status === "ready" && artifactAvailable;
}

/** Applies a transition, or throws when the current status does not allow it. */
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
    // A partial failure is held until a person decides about it.
    held: what === "partly_healthy",
    // Too late to cancel: the request must not stop the run that carries out the decision.
    cancelRequested: deployment.cancelRequested && what !== "healthy" && what !== "partly_healthy",
    pendingDecision: null,
    prompt: what === "built" || !isRunning(next) ? null : deployment.prompt,
    startedAt: what === "taken" ? at : deployment.startedAt,
    builtAt: what === "built" ? at : deployment.builtAt,
    finishedAt: status === "building" || status === "deploying" ? null : at,
    ...(what === "partly_healthy" && next.startedAt && { workMs: at.getTime() - next.startedAt.getTime() }),
  };
}

/** Returns the work time of a finished deployment in ms, without waiting for a decision and carrying it out. */
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
  const act = DONE[what] ?? `change this deployment ("${what}")`;
  return invalid("deployment_not_movable", `Cannot ${act}: its status is "${status}"`);
}

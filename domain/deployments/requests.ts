import { didYouMean } from "../did_you_mean.ts";
import { type Failure, invalid, invalidField } from "../failure.ts";
import type { BuildPrompt, Deployment, DeploymentError } from "./deployment.ts";
import { isRunning, transition } from "./transitions.ts";

/** The two answers to a partial failure. */
export type RequestedDecision = "keep" | "reject";

/** Lets a held deployment start; returns `undefined` for one that was started before. */
export function requestStart(deployment: Deployment): Deployment | undefined {
  if (!isRunning(deployment)) throw notMovable("build", `its status is "${deployment.status}"`);
  return deployment.held && deployment.status === "queued" ? { ...deployment, held: false } : undefined;
}

/**
 * Requests the cancellation of an unfinished deployment. A queued one ends at once; a worker ends any other, because it
 * knows what was created. Clearing `held` lets a worker take one that waits for an approval.
 */
export function requestCancel(deployment: Deployment, at: Date): Deployment {
  if (!isRunning(deployment)) throw notCancellable(deployment);
  const requested = { ...deployment, held: false, cancelRequested: true };
  return deployment.status === "queued" ? transition(requested, "cancelled", { at }) : requested;
}

/** The failure of a deployment that can no longer be cancelled. */
export function notCancellable({ status }: Pick<Deployment, "status">): Failure {
  return notMovable("cancel", `its status is "${status}"`);
}

/** Requests a decision about a partial failure, which a worker carries out. */
export function requestDecision(deployment: Deployment, what: RequestedDecision): Deployment {
  const { decision, pendingDecision, status } = deployment;
  if (decision !== "pending") throw notMovable(what, `it does not wait for a decision, its status is "${status}"`);
  if (pendingDecision !== null)
    throw notMovable(what, `it is being ${pendingDecision === "keep" ? "kept" : "rejected"} already`);
  return { ...deployment, pendingDecision: what, held: false };
}

/** Waits for a decision again after one could not be carried out. */
export function reopenDecision(deployment: Deployment, error: DeploymentError): Deployment {
  return { ...deployment, pendingDecision: null, held: true, error };
}

/** Holds a build until its prompt is answered. */
export function requestApproval(deployment: Deployment, prompt: Omit<BuildPrompt, "answer">): Deployment {
  return { ...deployment, held: true, prompt: { ...prompt, answer: null } };
}

/** Answers the open prompt of a build, which goes on then. */
export function answerPrompt(
  deployment: Deployment,
  { promptId, action, at }: { readonly promptId: string; readonly action: string; readonly at: Date },
): Deployment {
  const { prompt } = deployment;
  if (!prompt || prompt.answer !== null || prompt.promptId !== promptId || prompt.expiresAt <= at)
    throw invalid("no_open_prompt", "Cannot answer: this deployment is not waiting for this answer");
  const actions = prompt.actions.map(({ id }) => id);
  if (!actions.includes(action))
    throw invalidField("action", `use one of ${actions.join(", ")}${didYouMean(action, actions)}`);
  return { ...deployment, held: false, prompt: { ...prompt, answer: action } };
}

/** Ends the wait of a held deployment that was not started or answered in time; the engine ends an unanswered prompt. */
export function expireHeld(deployment: Deployment, at: Date): Deployment | undefined {
  if (!deployment.held) return undefined;
  const released = { ...deployment, held: false };
  return deployment.status === "queued" ? transition(released, "cancelled", { at }) : released;
}

function notMovable(act: string, why: string): Failure {
  return invalid("deployment_not_movable", `Cannot ${act} this deployment: ${why}`);
}

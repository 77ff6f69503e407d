import { requestApproval } from "../../../../domain/deployments/requests.ts";
import { waitingLine } from "../../../../domain/deployments/waiting_reason.ts";
import { Failure } from "../../../../domain/failure.ts";
import { type Run, StepFailed, Stopped, store } from "../run.ts";

const ANSWER_MS = 24 * 3_600_000;

/** Thrown to stop a run that waits for an approval; the run resumes after the answer. */
export class AwaitsApproval extends Error {
  override readonly name = "AwaitsApproval";
}

/**
 * Lets a build continue that needs no approval or has it. Otherwise asks for one and stops the run, which holds no
 * build slot while it waits.
 */
export async function askApproval(run: Run): Promise<void> {
  const { prompt, requireApproval } = run.deployment;
  if (!requireApproval) return;
  if (!prompt) {
    await ask(run);
    throw new AwaitsApproval("The build waits for an approval");
  }
  if (prompt.answer === "approve") return;
  if (prompt.answer === "reject") throw new Stopped("The build was rejected");
  if (prompt.expiresAt > run.ports.clock.now()) throw new AwaitsApproval("The build waits for an approval");
  const sentence = "Cannot build: it was not approved in time. Deploy again to request another approval";
  throw new StepFailed("build", new Failure("invalid", "approval_expired", sentence));
}

async function ask(run: Run): Promise<void> {
  const prompt = {
    promptId: crypto.randomUUID(),
    title: "Approve this build",
    message: `Build ${run.deployment.commitSha?.slice(0, 12) ?? (run.deployment.source.kind === "upload" ? "this upload" : "the current files")} of ${run.project.name}?`,
    actions: [
      { id: "approve", label: "Build it" },
      { id: "reject", label: "Cancel it" },
    ],
    expiresAt: new Date(run.ports.clock.now().getTime() + ANSWER_MS),
  };
  const waiting = waitingLine(requestApproval(run.deployment, prompt), run.ports.clock.now());
  await store(run, (deployment) => requestApproval(deployment, prompt), [waiting, { type: "prompt", ...prompt }]);
}

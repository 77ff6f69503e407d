import type { Deployment } from "../../domain/deployments/deployment.ts";
import { didYouMean } from "../../domain/did_you_mean.ts";
import { invalid, invalidField, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

export interface RespondToPromptPorts {
  readonly clock: Clock;
  readonly deployments: Deployments;
}

/** Answers the prompt that a build waits for, once. */
export function respondToPrompt(ports: RespondToPromptPorts) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    given: { readonly promptId: string; readonly action: string },
  ): Promise<Deployment> {
    await find(by, id, "deployment:write");
    const answered = await ports.deployments.change(id, (deployment) => {
      const { prompt } = deployment;
      if (
        !prompt ||
        prompt.answer !== null ||
        prompt.promptId !== given.promptId ||
        prompt.expiresAt <= ports.clock.now()
      ) {
        throw invalid("no_open_prompt", "Cannot answer: this deployment waits for no such answer");
      }
      const actions = prompt.actions.map((action) => action.id);
      if (!actions.includes(given.action)) {
        throw invalidField("action", `use one of ${actions.join(", ")}${didYouMean(given.action, actions)}`);
      }
      return { deployment: { ...deployment, held: false, prompt: { ...prompt, answer: given.action } }, events: [] };
    });
    if (!answered) throw notFound("deployment");
    return answered;
  };
}

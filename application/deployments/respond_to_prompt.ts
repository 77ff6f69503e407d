import type { Deployment } from "../../domain/deployments/deployment.ts";
import { answerPrompt } from "../../domain/deployments/requests.ts";
import { notFound } from "../../domain/failure.ts";
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
    const answered = await ports.deployments.change(id, (deployment) => ({
      deployment: answerPrompt(deployment, { ...given, at: ports.clock.now() }),
      events: [],
    }));
    if (!answered) throw notFound("deployment");
    return answered;
  };
}

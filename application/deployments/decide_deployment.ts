import type { Deployment } from "../../domain/deployments/deployment.ts";
import { requestDecision, type RequestedDecision } from "../../domain/deployments/requests.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { RESPONSE_TIMEOUT_MS } from "../system/response_timeout.ts";
import { awaitDeployment, type AwaitDeploymentPorts } from "./await_deployment.ts";
import { findDeployment } from "./find_deployment.ts";

export interface DecideOptions {
  readonly settleMs?: number;
}

/** Accepts the services of a partial failure that came up. Resolves once the decision is stored and in effect. */
export function keepDeployment(ports: AwaitDeploymentPorts, options: DecideOptions = {}) {
  const decide = decideDeployment(ports, "keep", options);
  return (by: Principal, id: string, signal?: AbortSignal): Promise<Deployment> => decide(by, id, signal);
}

/**
 * Takes the changed services of a partial failure back. Resolves, once they are back, with the release that serves
 * again.
 */
export function rejectDeployment(ports: AwaitDeploymentPorts, options: DecideOptions = {}) {
  const decide = decideDeployment(ports, "reject", options);
  return async function (
    by: Principal,
    id: string,
    signal?: AbortSignal,
  ): Promise<{ readonly deployment: Deployment; readonly restoredDeploymentId: string | null }> {
    const deployment = await decide(by, id, signal);
    const { replaces } = deployment;
    // It may have been deleted while this one went live.
    const restored = replaces === null ? undefined : await ports.deployments.get(replaces);
    return { deployment, restoredDeploymentId: restored?.id ?? null };
  };
}

function decideDeployment(
  ports: AwaitDeploymentPorts,
  what: RequestedDecision,
  { settleMs = RESPONSE_TIMEOUT_MS }: DecideOptions,
) {
  const find = findDeployment(ports);
  return async function (by: Principal, id: string, signal: AbortSignal | undefined): Promise<Deployment> {
    await find(by, id, "deployment:write");
    const requested = await ports.deployments.change(id, (deployment) => ({
      deployment: requestDecision(deployment, what),
      events: [],
    }));
    if (!requested) throw notFound("deployment");
    // A worker carries out the decision, and another one takes over if that is killed, whether or not the caller waits.
    const decided = await awaitDeployment(ports, id, {
      until: ({ pendingDecision }) => pendingDecision === null,
      limitMs: settleMs,
      signal,
    });
    if (!decided) throw notFound("deployment");
    if (decided.pendingDecision !== null) throw takesLong(what);
    if (decided.status === "partial_failure")
      throw invalid(
        decided.error?.code ?? `${what}_failed`,
        decided.error?.message ?? `Cannot ${what} this deployment`,
      );
    return decided;
  };
}

function takesLong(what: RequestedDecision): Failure {
  const message = `The deployment is still being ${what === "keep" ? "kept" : "rejected"}: read it again in a moment`;
  return new Failure("unavailable", "decision_takes_long", message, { retryAfter: 5 });
}

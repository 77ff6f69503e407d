import type { Deployment } from "../../domain/deployment/deployment.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/permission.ts";
import type { DeploymentQueue } from "../../ports/deployment_queue.ts";
import type { Deployments } from "../../ports/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

/** Within what a connection may stay silent. */
const SETTLE_MS = 50_000;
const LOOK_MS = 50;

export interface DecideDeploymentPorts {
  readonly deploymentQueue: DeploymentQueue;
  readonly deployments: Deployments;
}

/** Resolves a partial failure by accepting the services that came up; resolves once that is stored and in effect. */
export function keepDeployment(ports: DecideDeploymentPorts) {
  const decide = decideDeployment(ports);
  return (by: Principal, id: string): Promise<Deployment> => decide(by, id, "keep");
}

/** Resolves a partial failure by taking changed services back; resolves once they are, with the release that serves again. */
export function rejectDeployment(ports: DecideDeploymentPorts) {
  const decide = decideDeployment(ports);
  return async function (
    by: Principal,
    id: string,
  ): Promise<{ readonly deployment: Deployment; readonly restoredDeploymentId: string | null }> {
    const deployment = await decide(by, id, "reject");
    const { replaces } = deployment;
    // It may have been deleted while this one was brought live.
    const restored = replaces === null ? undefined : await ports.deployments.get(replaces);
    return { deployment, restoredDeploymentId: restored?.id ?? null };
  };
}

function decideDeployment({ deploymentQueue, deployments }: DecideDeploymentPorts) {
  const find = findDeployment({ deployments });
  return async function (by: Principal, id: string, what: "keep" | "reject"): Promise<Deployment> {
    await find(by, id, "deployment:write");
    let decided = await deployments.change(id, (deployment) => ask(deployment, what));
    if (!decided) throw notFound("deployment");
    await deploymentQueue.announce();
    // A worker carries it out, and another one goes on where that is killed.
    const until = performance.now() + SETTLE_MS;
    while (decided.asked !== null && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const now = await deployments.get(id);
      if (!now) throw notFound("deployment");
      decided = now;
    }
    if (decided.asked !== null) throw takesLong(what);
    if (decided.status === "partial_failure")
      throw invalid(
        decided.error?.code ?? `${what}_failed`,
        decided.error?.message ?? `Cannot ${what} this deployment`,
      );
    return decided;
  };
}

function ask(deployment: Deployment, what: "keep" | "reject") {
  if (deployment.decision !== "pending") {
    const why = `it does not wait for a decision, its status is "${deployment.status}"`;
    throw invalid("deployment_not_movable", `Cannot ${what} this deployment: ${why}`);
  }
  if (deployment.asked !== null) {
    const other = deployment.asked === "keep" ? "kept" : "rejected";
    throw invalid("deployment_not_movable", `Cannot ${what} this deployment: it is being ${other} already`);
  }
  return { deployment: { ...deployment, asked: what, held: false }, events: [] };
}

function takesLong(what: "keep" | "reject"): Failure {
  const message = `The deployment is still being ${what === "keep" ? "kept" : "rejected"}: read it again in a moment`;
  return new Failure("unavailable", "decision_takes_long", message, { retryAfter: 5 });
}

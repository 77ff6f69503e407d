import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";

export interface AwaitDeploymentPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
}

/** What is waited for, and how long. */
export interface AwaitOptions {
  readonly until: (deployment: Deployment) => boolean;
  readonly limitMs: number;
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Follows the events of a deployment until it is as asked, or for as long as may be waited; resolves to how it is then, `undefined` once it was removed. Rejects
 * with the signal's reason when that aborts. Whatever is waited for has to be told by an event of the status or the end.
 */
export async function awaitDeployment(
  { deploymentEvents, deployments }: AwaitDeploymentPorts,
  id: string,
  { until, limitMs, signal }: AwaitOptions,
): Promise<Deployment | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  const done = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
  // Whatever happens after this number was given is told.
  const since = await deploymentEvents.last(id);
  let deployment = await deployments.get(id);
  if (!deployment || until(deployment)) return deployment;
  for await (const events of deploymentEvents.follow(id, { since, signal: done })) {
    if (!events.some(({ type }) => type === "status" || type === "end")) continue;
    deployment = await deployments.get(id);
    if (!deployment || until(deployment)) return deployment;
  }
  signal?.throwIfAborted();
  return deployments.get(id);
}

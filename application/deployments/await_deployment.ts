import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";

export interface AwaitDeploymentPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
}

/** The condition to wait for, and the limits of the wait. */
export interface AwaitOptions {
  readonly until: (deployment: Deployment) => boolean;
  readonly limitMs: number;
  /** Aborts when the caller no longer waits. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Follows the events of a deployment until `until` holds or `limitMs` has passed. Resolves to the deployment as stored
 * then, or to `undefined` if it was deleted. Rejects with the signal's reason on abort. The awaited change must emit a
 * `status` or `end` event: no other event triggers a check.
 */
export async function awaitDeployment(
  { deploymentEvents, deployments }: AwaitDeploymentPorts,
  id: string,
  { until, limitMs, signal }: AwaitOptions,
): Promise<Deployment | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  const done = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
  // Read before the deployment, so that no later event is missed.
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

import type { Deployment } from "./deployment.ts";
import { deploymentOfInstance } from "./instance_id.ts";
import { isRunning } from "./transitions.ts";

/** The number of newest deployments of a project whose runtime logs are kept. */
export const LOGGED_DEPLOYMENTS = 20;

/**
 * Returns the deployments whose runtime logs are kept: the newest, those in progress, pinned, awaiting a decision or
 * available for a rollback, and those that started instances which these still use.
 */
export function keptRuntimeLogs(newestFirst: readonly Deployment[]): ReadonlySet<string> {
  const stay = newestFirst.filter((deployment, index) => {
    const { artifactAvailable, decision, pinned } = deployment;
    return index < LOGGED_DEPLOYMENTS || pinned || artifactAvailable || decision === "pending" || isRunning(deployment);
  });
  const starters = stay.flatMap(({ services }) =>
    services.flatMap(({ instanceId }) => (instanceId === null ? [] : deploymentOfInstance(instanceId))),
  );
  return new Set([...stay.map(({ id }) => id), ...starters]);
}

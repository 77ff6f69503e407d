import type { Deployment } from "./deployment.ts";
import { starterOf } from "./instance_id.ts";
import { isRunning } from "./transitions.ts";

/** Of how many deployments of a project the runtime logs stay, the newest ones. */
export const LOGGED_DEPLOYMENTS = 20;

/** Whose runtime logs stay: of the newest deployments, of those that run, are pinned or can be gone back to, and of those that started what is part of these. */
export function keptRuntimeLogs(newestFirst: readonly Deployment[]): ReadonlySet<string> {
  const stay = newestFirst.filter((deployment, index) => {
    const { artifactAvailable, decision, pinned } = deployment;
    return index < LOGGED_DEPLOYMENTS || pinned || artifactAvailable || decision === "pending" || isRunning(deployment);
  });
  const starters = stay.flatMap(({ services }) =>
    services.flatMap(({ instanceId }) => (instanceId === null ? [] : starterOf(instanceId))),
  );
  return new Set([...stay.map(({ id }) => id), ...starters]);
}

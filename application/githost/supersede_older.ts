import type { Deployment } from "../../domain/deployments/deployment.ts";
import { transition } from "../../domain/deployments/transitions.ts";
import type { DeploymentHistory } from "../../ports/deployments/deployment_history.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { Clock } from "../../ports/system/clock.ts";

export interface SupersedePorts {
  readonly clock: Clock;
  readonly deploymentHistory: DeploymentHistory;
  readonly deployments: Deployments;
}

/** Ends the pushes of the same branch, or to the same pull request, that were queued before this one and have not begun. */
export async function supersedeOlder(ports: SupersedePorts, newest: Deployment): Promise<void> {
  for (const deployment of await queuedBeside(ports, newest)) {
    if (deployment.version < newest.version && isSameLine(deployment, newest)) await supersede(ports, deployment);
  }
}

/**
 * Ends the oldest previews of forks that wait for an approval, beyond this many: anybody can open pull requests, so they
 * must not fill the queue.
 */
export async function limitWaitingForks(ports: SupersedePorts, newest: Deployment, max: number): Promise<void> {
  const waiting = (await queuedBeside(ports, newest)).filter(({ held, pullRequest }) => held && pullRequest?.fork);
  const newestFirst = waiting.toSorted((a, b) => b.version - a.version);
  for (const deployment of newestFirst.slice(max)) await supersede(ports, deployment);
}

async function queuedBeside(
  { deploymentHistory }: SupersedePorts,
  { branch, environment, organizationId, projectId, pullRequest }: Deployment,
): Promise<readonly Deployment[]> {
  const onBranch = !pullRequest && branch !== null ? { branch } : {};
  const filter = { projectId, environment, status: "queued", ...onBranch } as const;
  const { items } = await deploymentHistory.list(organizationId, filter, { page: 1, perPage: 100 });
  return items.map(({ deployment }) => deployment);
}

function isSameLine(one: Deployment, other: Deployment): boolean {
  return other.pullRequest ? one.pullRequest?.number === other.pullRequest.number : one.trigger === "push";
}

async function supersede({ clock, deployments }: SupersedePorts, { id }: Deployment): Promise<void> {
  await deployments.change(id, (current) => {
    if (current.status !== "queued") return undefined;
    const ended = transition(current, "superseded", { at: clock.now() });
    const { status, decision } = ended;
    const events = [
      { type: "status", status, decision },
      { type: "end", status, decision, error: null },
    ] as const;
    return { deployment: ended, events };
  });
}

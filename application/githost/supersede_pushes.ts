import type { Deployment } from "../../domain/deployments/deployment.ts";
import { transition } from "../../domain/deployments/transitions.ts";
import type { DeploymentHistory } from "../../ports/deployments/deployment_history.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { Clock } from "../../ports/system/clock.ts";

export interface SupersedePushesPorts {
  readonly clock: Clock;
  readonly deploymentHistory: DeploymentHistory;
  readonly deployments: Deployments;
}

/** Ends the pushes of the same branch that were queued before this one and have not begun. */
export async function supersedePushes(ports: SupersedePushesPorts, newest: Deployment): Promise<void> {
  const { organizationId, projectId, branch } = newest;
  const filter = { projectId, status: "queued", ...(branch !== null && { branch }) } as const;
  const { items } = await ports.deploymentHistory.list(organizationId, filter, { page: 1, perPage: 100 });
  for (const { deployment } of items) {
    if (deployment.trigger !== "push" || deployment.version >= newest.version) continue;
    await ports.deployments.change(deployment.id, (current) => {
      if (current.status !== "queued") return undefined;
      const ended = transition(current, "superseded", { at: ports.clock.now() });
      const { status, decision } = ended;
      const events = [
        { type: "status", status, decision },
        { type: "end", status, decision, error: null },
      ] as const;
      return { deployment: ended, events };
    });
  }
}

import type { Deployment, DeploymentError } from "../../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../../domain/deployments/deployment_event.ts";
import { type DeploymentTransition, transition } from "../../../domain/deployments/transitions.ts";
import { serviceEvent } from "./changeover/service_ledger.ts";
import { isStillOurs, type Run, withNoted } from "./run.ts";

/** A transition that ends a run. */
type EndTransition = Exclude<DeploymentTransition, "taken" | "built" | "superseded">;

interface EndOptions {
  readonly error?: DeploymentError | null;
  /** A change that is stored along. */
  readonly change?: (ended: Deployment) => Deployment;
}

/**
 * Ends a run with a transition and the last events of its stream. Stores nothing if the deployment was deleted or
 * another run has taken it.
 */
export async function end(run: Run, what: EndTransition, { error = null, change }: EndOptions = {}): Promise<void> {
  const at = run.ports.clock.now();
  const changed = await run.writer.storeWith((noted) =>
    run.ports.deployments.change(run.deployment.id, (deployment) => {
      if (!isStillOurs(run, deployment)) return undefined;
      const ended = transition(withNoted(run, deployment), what, { at, error });
      const next = change ? change(ended) : ended;
      return { deployment: next, events: [...noted, ...lastEvents(next)] };
    }),
  );
  if (changed) run.deployment = changed;
}

function lastEvents({ status, decision, services, error }: Deployment): NewEvent[] {
  const hasStopped = status === "failed" || status === "cancelled" || status === "rejected";
  return [
    ...(hasStopped ? services.map(serviceEvent) : []),
    { type: "status", status, decision },
    { type: "end", status, decision, error },
  ];
}

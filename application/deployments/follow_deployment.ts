import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { isSettled } from "../../domain/deployments/transitions.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";
import { whileAllowed } from "./while_allowed.ts";

const RECHECK_MS = 2_000;

/** Where a subscription begins, when it ends, and who the caller is. */
export interface FollowOptions {
  readonly since: number;
  readonly signal: AbortSignal;
  /** Returns the current caller; rejects once the credential is no longer valid. */
  readonly caller: () => Promise<Principal>;
}

export interface FollowDeploymentPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
}

/**
 * Streams a deployment's events after `since` until the last one, or until the caller may no longer read it. Resolves
 * to `undefined` if a settled deployment has no events left.
 */
export function followDeployment(ports: FollowDeploymentPorts, { recheckMs = RECHECK_MS } = {}) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    options: FollowOptions,
  ): Promise<AsyncIterable<readonly DeploymentEvent[]> | undefined> {
    const deployment = await find(by, id, "deployment:read");
    const last = await ports.deploymentEvents.last(id);
    if (isOver(deployment) && options.since >= last) return undefined;
    const allowed = async () => void (await find(await options.caller(), id, "deployment:read"));
    return whileAllowed(allowed, recheckMs, (done) =>
      // Capped, because the events up to a sequence number that does not exist yet would be skipped.
      untilEnd(ports, id, { since: Math.min(options.since, last), signal: AbortSignal.any([options.signal, done]) }),
    );
  };
}

/** Whether no more events will come; a decision that is being carried out still emits some. */
function isOver(deployment: Deployment): boolean {
  return isSettled(deployment) && deployment.pendingDecision === null;
}

async function* untilEnd(
  { deploymentEvents, deployments }: FollowDeploymentPorts,
  id: string,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly DeploymentEvent[]> {
  let ended = false;
  for await (const events of deploymentEvents.follow(id, { since, signal })) {
    yield events;
    ended ||= events.some(({ type }) => type === "end");
    if (!ended) continue;
    // A decision appends further events and another end; the last event of a settled deployment closes the stream.
    const deployment = await deployments.get(id);
    const last = events.at(-1)?.seq ?? since;
    if (!deployment || (isOver(deployment) && last >= (await deploymentEvents.last(id)))) return;
  }
}

import type { DeploymentEvent } from "../../domain/deployment/deployment_event.ts";
import { isSettled } from "../../domain/deployment/transitions.ts";
import type { Principal } from "../../domain/permission.ts";
import type { DeploymentEvents } from "../../ports/deployment_events.ts";
import type { Deployments } from "../../ports/deployments.ts";
import { findDeployment } from "./find_deployment.ts";

export interface FollowDeploymentPorts {
  readonly deploymentEvents: DeploymentEvents;
  readonly deployments: Deployments;
}

/** Yields a deployment's events after `since` until its last one; `undefined` when a settled one has none left to tell. */
export function followDeployment(ports: FollowDeploymentPorts) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    options: { readonly since: number; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<readonly DeploymentEvent[]> | undefined> {
    const deployment = await find(by, id, "deployment:read");
    const last = await ports.deploymentEvents.last(id);
    if (isSettled(deployment) && options.since >= last) return undefined;
    return untilEnd(ports, id, options);
  };
}

async function* untilEnd(
  { deploymentEvents, deployments }: FollowDeploymentPorts,
  id: string,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly DeploymentEvent[]> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  try {
    for await (const events of deploymentEvents.follow(id, { since, signal: either })) {
      yield events;
      const end = events.findLast(({ type }) => type === "end");
      if (!end) continue;
      // A decision appends further events and another end; only the last one of a settled deployment closes the feed.
      const deployment = await deployments.get(id);
      if (!deployment || (isSettled(deployment) && end.seq >= (await deploymentEvents.last(id)))) return;
    }
  } finally {
    done.abort();
  }
}

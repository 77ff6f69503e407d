import { servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import type { Page } from "../../domain/page.ts";
import type { Permission, Principal } from "../../domain/identity/permission.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import type { LiveReleases, QueuePosition } from "../../ports/deployments/live_releases.ts";
import { findDeployment } from "./find_deployment.ts";
import { type DeploymentSelection, listDeployments } from "./list_deployments.ts";

/** A deployment, and whether it is its project's live release. */
export interface ShownDeployment {
  readonly deployment: Deployment;
  readonly active: boolean;
}

export interface ViewDeploymentPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
}

/** Reads one deployment for display. */
export function viewDeployment(ports: ViewDeploymentPorts) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    permission: Permission = "deployment:read",
  ): Promise<ShownDeployment> {
    // Queried in parallel: a caller without the permission never sees the result.
    const [found, positions] = await Promise.all([find(by, id, permission), ports.liveReleases.queuePositions([id])]);
    return shown(found, positions);
  };
}

/** Adds whether a deployment is live, and which one it waits for. */
export function showDeployment({ liveReleases }: Pick<ViewDeploymentPorts, "liveReleases">) {
  return async function (deployment: Deployment): Promise<ShownDeployment> {
    return shown(deployment, await liveReleases.queuePositions([deployment.id]));
  };
}

/** Lists deployments for display. */
export function viewDeployments(ports: ViewDeploymentPorts) {
  const list = listDeployments(ports);
  return async function (by: Principal, selection: DeploymentSelection, page: Page) {
    const { items, total } = await list(by, selection, page);
    const positions = await ports.liveReleases.queuePositions(items.map(({ id }) => id));
    return { items: items.map((deployment) => shown(deployment, positions)), total };
  };
}

function shown(deployment: Deployment, positions: ReadonlyMap<string, QueuePosition>): ShownDeployment {
  const { active = false, waitingFor = null } = positions.get(deployment.id) ?? {};
  const isLive = active || servesAsPreview(deployment);
  return {
    deployment: {
      ...deployment,
      // A worker may have taken it between the two queries.
      waitingFor: deployment.status === "queued" ? waitingFor : null,
      services: isLive ? deployment.services : deployment.services.map(withoutOutage),
    },
    active,
  };
}

/** A release that was replaced during an outage is not restarted, so its service counts as stopped. */
function withoutOutage({ outage, ...service }: DeployedService): DeployedService {
  return outage === undefined ? service : { ...service, status: "stopped" };
}

/** Reads the state of a deployment's build. */
export function viewBuild(ports: { readonly deployments: Deployments; readonly deploymentEvents: DeploymentEvents }) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
  ): Promise<{ readonly deployment: Deployment; readonly lastSeq: number }> {
    const { services, ...deployment } = await find(by, id, "deployment:read");
    // As built, without later outages.
    const built = services.map((service) => {
      const { outage: _, ...rest } = service;
      return rest;
    });
    return { deployment: { ...deployment, services: built }, lastSeq: await ports.deploymentEvents.last(id) };
  };
}

import type { Deployment } from "../../domain/deployment/deployment.ts";
import type { Page } from "../../domain/page.ts";
import type { Permission, Principal } from "../../domain/permission.ts";
import type { DeploymentEvents } from "../../ports/deployment_events.ts";
import type { Deployments } from "../../ports/deployments.ts";
import type { LiveReleases } from "../../ports/live_releases.ts";
import { findDeployment } from "./find_deployment.ts";
import { listDeployments } from "./list_deployments.ts";

/** A deployment and whether its project is served by it. */
export interface ShownDeployment {
  readonly deployment: Deployment;
  readonly active: boolean;
}

export interface ViewDeploymentPorts {
  readonly deployments: Deployments;
  readonly liveReleases: LiveReleases;
}

/** Reads one deployment as it is shown. */
export function viewDeployment(ports: ViewDeploymentPorts) {
  const find = findDeployment(ports);
  const show = showDeployment(ports);
  return async function (
    by: Principal,
    id: string,
    permission: Permission = "deployment:read",
  ): Promise<ShownDeployment> {
    return show(await find(by, id, permission));
  };
}

/** Tells whether a deployment is live. */
export function showDeployment({ liveReleases }: Pick<ViewDeploymentPorts, "liveReleases">) {
  return async function (deployment: Deployment): Promise<ShownDeployment> {
    const active = await liveReleases.among([deployment.id]);
    return { deployment, active: active.has(deployment.id) };
  };
}

/** Lists deployments as they are shown. */
export function viewDeployments(ports: ViewDeploymentPorts) {
  const list = listDeployments(ports);
  return async function (by: Principal, projectId: string | undefined, page: Page) {
    const { items, total } = await list(by, projectId, page);
    const active = await ports.liveReleases.among(items.map(({ id }) => id));
    return { items: items.map((deployment) => ({ deployment, active: active.has(deployment.id) })), total };
  };
}

/** Reads how the build of a deployment stands. */
export function viewBuild(ports: { readonly deployments: Deployments; readonly deploymentEvents: DeploymentEvents }) {
  const find = findDeployment(ports);
  return async function (
    by: Principal,
    id: string,
  ): Promise<{ readonly deployment: Deployment; readonly lastSeq: number }> {
    const deployment = await find(by, id, "deployment:read");
    return { deployment, lastSeq: await ports.deploymentEvents.last(id) };
  };
}

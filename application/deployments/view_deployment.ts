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

/** Tells whether a deployment is live, and for which one it waits. */
export function showDeployment(ports: ViewDeploymentPorts) {
  const show = showAll(ports);
  return async function (deployment: Deployment): Promise<ShownDeployment> {
    const [shown] = await show([deployment]);
    return shown!;
  };
}

/** Lists deployments as they are shown. */
export function viewDeployments(ports: ViewDeploymentPorts) {
  const list = listDeployments(ports);
  const show = showAll(ports);
  return async function (by: Principal, projectId: string | undefined, page: Page) {
    const { items, total } = await list(by, projectId, page);
    return { items: await show(items), total };
  };
}

function showAll({ deployments, liveReleases }: ViewDeploymentPorts) {
  return async function (shown: readonly Deployment[]): Promise<readonly ShownDeployment[]> {
    const waiting = new Set(shown.filter(({ status }) => status === "queued").map(({ projectId }) => projectId));
    const [active, occupants] = await Promise.all([
      liveReleases.among(shown.map(({ id }) => id)),
      waiting.size > 0 ? deployments.occupants([...waiting]) : undefined,
    ]);
    return shown.map((deployment) => {
      const waitingFor = deployment.status === "queued" ? (occupants?.get(deployment.projectId) ?? null) : null;
      return { deployment: { ...deployment, waitingFor }, active: active.has(deployment.id) };
    });
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

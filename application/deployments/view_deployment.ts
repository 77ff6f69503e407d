import type { Deployment } from "../../domain/deployment/deployment.ts";
import { occupies } from "../../domain/deployment/transitions.ts";
import type { Page } from "../../domain/page.ts";
import type { Permission, Principal } from "../../domain/permission.ts";
import type { DeploymentEvents } from "../../ports/deployment_events.ts";
import type { DeploymentQueue } from "../../ports/deployment_queue.ts";
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
  readonly deploymentQueue: DeploymentQueue;
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
    // Asked at the same time: whether it is live is nothing that the caller sees without the right to.
    const [found, active] = await Promise.all([find(by, id, permission), ports.liveReleases.among([id])]);
    return found.status === "queued"
      ? show(found)
      : { deployment: { ...found, waitingFor: null }, active: active.has(id) };
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

function showAll({ deploymentQueue, liveReleases }: ViewDeploymentPorts) {
  return async function (shown: readonly Deployment[]): Promise<readonly ShownDeployment[]> {
    const begun = shown.filter(({ status }) => status !== "queued");
    const known = new Map(begun.filter(occupies).map(({ projectId, id }) => [projectId, id]));
    const waiting = shown.filter(({ status, projectId }) => status === "queued" && !known.has(projectId));
    const none: ReadonlyMap<string, string> = new Map();
    // What is not begun is not live, and what occupies a project mostly stands in the same list.
    const [active, others] = await Promise.all([
      begun.length > 0 ? liveReleases.among(begun.map(({ id }) => id)) : new Set<string>(),
      waiting.length > 0 ? deploymentQueue.occupants([...new Set(waiting.map(({ projectId }) => projectId))]) : none,
    ]);
    return shown.map((deployment) => {
      const { id, projectId, status } = deployment;
      const waitingFor = status === "queued" ? (known.get(projectId) ?? others.get(projectId) ?? null) : null;
      return { deployment: { ...deployment, waitingFor }, active: active.has(id) };
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

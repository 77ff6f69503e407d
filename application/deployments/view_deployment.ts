import { servesAsPreview } from "../../domain/deployments/transitions.ts";
import type { DeployedService, Deployment } from "../../domain/deployments/deployment.ts";
import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { Page } from "../../domain/page.ts";
import { remembered } from "../../domain/remembered.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import type { DeploymentHistory, PlacedDeployment } from "../../ports/deployments/deployment_history.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { findDeployment } from "./find_deployment.ts";
import { type DeploymentSelection, listDeployments } from "./list_deployments.ts";

/** A deployment, and whether it is its project's live release. */
export interface ShownDeployment {
  readonly deployment: Deployment;
  readonly active: boolean;
}

interface HistoryPorts {
  readonly deploymentHistory: DeploymentHistory;
}

/** Reads one deployment for display. */
export function viewDeployment({ deploymentHistory }: HistoryPorts) {
  return async function (
    by: Principal,
    id: string,
    permission: Permission = "deployment:read",
  ): Promise<ShownDeployment> {
    const placed = isId("dep", id) ? await deploymentHistory.find(by.organizationId, id) : undefined;
    if (!placed) throw notFound("deployment");
    demand(by, permission, { id, projectId: placed.deployment.projectId });
    return shown(placed);
  };
}

/** Adds whether a deployment is live, and which one it waits for. */
export function showDeployment({ deploymentHistory }: HistoryPorts) {
  return async function (deployment: Deployment): Promise<ShownDeployment> {
    const placed = await deploymentHistory.find(deployment.organizationId, deployment.id);
    return shown({ active: false, waitingFor: null, ...placed, deployment });
  };
}

/** Lists deployments for display. Unchanged pages are the same objects each time. */
export function viewDeployments(ports: HistoryPorts) {
  const list = listDeployments(ports);
  return async function (by: Principal, selection: DeploymentSelection, page: Page) {
    const { items, total } = await list(by, selection, page);
    return { items: allShown(items), total };
  };
}

const shown = remembered(({ deployment, active, waitingFor }: PlacedDeployment): ShownDeployment => {
  const isLive = active || servesAsPreview(deployment);
  return {
    deployment: {
      ...deployment,
      // The position may have been read later.
      waitingFor: deployment.status === "queued" ? waitingFor : null,
      services: isLive ? deployment.services : deployment.services.map(withoutOutage),
    },
    active,
  };
});

const allShown = remembered((page: readonly PlacedDeployment[]): readonly ShownDeployment[] => page.map(shown));

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

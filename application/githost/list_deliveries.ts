import type { WebhookDecision } from "../../domain/githost/webhook_delivery.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { WebhookDeliveries } from "../../ports/githost/webhook_deliveries.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { findProject } from "../projects/find_project.ts";

export interface ListDeliveriesPorts {
  readonly projects: Projects;
  readonly webhookDeliveries: WebhookDeliveries;
}

/** Lists what webhook deliveries led to for a project, newest first. */
export function listDeliveries(ports: ListDeliveriesPorts) {
  const find = findProject(ports);
  return async function (by: Principal, projectId: string, page: Page): Promise<Listing<WebhookDecision>> {
    await find(by, projectId, "project:read");
    return ports.webhookDeliveries.list(projectId, page);
  };
}

import type { Deployment } from "../../domain/deployments/deployment.ts";
import { occupies } from "../../domain/deployments/transitions.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type {
  DeploymentFilter,
  DeploymentHistory,
  PlacedDeployment,
} from "../../ports/deployments/deployment_history.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

const FIELDS = ["projectId", "status", "environment", "branch"] as const;

/** Reads deployments for display from memory. */
export class MemoryDeploymentHistory implements DeploymentHistory {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(organizationId: string, id: string): Promise<PlacedDeployment | undefined> {
    const deployment = this.#tables.deployments.get(id)?.deployment;
    return deployment?.organizationId === organizationId ? this.#placed(copied(deployment)) : undefined;
  }

  async list(
    organizationId: string,
    { projectIds, ids = [], ...wanted }: DeploymentFilter,
    page: Page,
  ): Promise<Listing<PlacedDeployment>> {
    const rows = this.#tables
      .allDeployments()
      .filter((deployment) => deployment.organizationId === organizationId)
      .filter(({ id, projectId }) => !projectIds || projectIds.includes(projectId) || ids.includes(id))
      .filter((deployment) =>
        FIELDS.every((field) => wanted[field] === undefined || wanted[field] === deployment[field]),
      );
    const { items, total } = newestFirst(rows, page, BY_CREATION);
    return { items: items.map((deployment) => this.#placed(deployment)), total };
  }

  #placed(deployment: Deployment): PlacedDeployment {
    const { id, projectId, status } = deployment;
    const busy = this.#tables.allDeployments().find((other) => other.projectId === projectId && occupies(other));
    return {
      deployment,
      active: this.#tables.projects.get(projectId)?.activeDeploymentId === id,
      waitingFor: status === "queued" ? (busy?.id ?? null) : null,
    };
  }
}

import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { notFound } from "../../domain/failure.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps the service sets of deployments in memory. */
export class MemoryServiceSets implements ServiceSets {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async read(deploymentId: string): Promise<ServiceSet | undefined> {
    return copied(this.#tables.deployments.get(deploymentId)?.serviceSet);
  }

  async write(deploymentId: string, serviceSet: ServiceSet, claim?: WorkClaim): Promise<void> {
    const row = this.#tables.deployments.get(deploymentId);
    if (!row) throw notFound("deployment");
    if (claim && this.#tables.claimed(claim) !== row) throw claimVoid();
    row.serviceSet = copied(serviceSet);
  }
}

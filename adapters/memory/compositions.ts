import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { notFound } from "../../domain/failure.ts";
import type { Composition } from "../../domain/services/composition.ts";
import type { Compositions } from "../../ports/deployments/compositions.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps what deployments consist of in memory. */
export class MemoryCompositions implements Compositions {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async read(deploymentId: string): Promise<Composition | undefined> {
    return copied(this.#tables.deployments.get(deploymentId)?.composition);
  }

  async write(deploymentId: string, composition: Composition, claim?: WorkClaim): Promise<void> {
    const row = this.#tables.deployments.get(deploymentId);
    if (!row) throw notFound("deployment");
    if (claim && this.#tables.claimed(claim) !== row) throw claimVoid();
    row.composition = copied(composition);
  }
}

import { claimVoid } from "../../domain/deployments/claim_void.ts";
import { notFound } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { ServiceSet } from "../../domain/services/service_set.ts";
import type { ServiceSets } from "../../ports/deployments/service_sets.ts";
import type { WorkClaim } from "../../ports/deployments/deployment_queue.ts";
import type { Vault } from "../../ports/system/vault.ts";
import { isClaimed } from "./claimed.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

/** Stores the service sets of deployments in PostgreSQL, encrypted. */
export class PostgresServiceSets implements ServiceSets {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async read(deploymentId: string): Promise<ServiceSet | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ sealed_composition: string }[]>`
        select sealed_composition from deployment_compositions where deployment_id = ${deploymentId}`,
    );
    if (!row) return undefined;
    const opened = await this.#vault.open(row.sealed_composition, placeOf(deploymentId));
    return JSON.parse(opened.reveal()) as ServiceSet;
  }

  async write(deploymentId: string, serviceSet: ServiceSet, claim?: WorkClaim): Promise<void> {
    const sealed = await sealServiceSet(this.#vault, deploymentId, serviceSet);
    // Locks the deployment, so that a concurrently removed one counts as missing instead of failing the insert, and so
    // that no other worker takes a claimed one meanwhile.
    const { count } = await this.#database.run(
      (sql) => sql`
        insert into deployment_compositions (deployment_id, sealed_composition)
        select id, ${sealed}::text from deployments
        where id = ${deploymentId} ${claim ? sql`and ${isClaimed(sql, claim)}` : sql``} for no key update
        on conflict (deployment_id) do update set sealed_composition = excluded.sealed_composition`,
    );
    if (count === 0) throw claim && (await this.#isThere(deploymentId)) ? claimVoid() : notFound("deployment");
  }

  async #isThere(deploymentId: string): Promise<boolean> {
    const rows = await this.#database.run((sql) => sql`select 1 from deployments where id = ${deploymentId}`);
    return rows.length > 0;
  }
}

/** Encrypts a deployment's service set for its row. */
export function sealServiceSet(vault: Vault, deploymentId: string, serviceSet: ServiceSet): Promise<string> {
  return vault.seal(new Secret(JSON.stringify(serviceSet)), placeOf(deploymentId));
}

function placeOf(deploymentId: string) {
  return sealedPlace(SEALED_COLUMNS.deploymentComposition, deploymentId);
}

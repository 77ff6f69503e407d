import type { Secret } from "../../domain/secret.ts";
import type { CloudAddress } from "../../ports/cloud/cloud_api.ts";
import type { CloudLink, CloudLinks } from "../../ports/cloud/cloud_links.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { SignalledCache } from "./signalled_cache.ts";
import type { PostgresSignals } from "./signals.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

/** Stores links to the hosted cloud in PostgreSQL with encrypted tokens. */
export class PostgresCloudLinks implements CloudLinks {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #vault: Vault;
  readonly #addresses: SignalledCache<CloudAddress | undefined>;

  constructor(database: Database, signals: PostgresSignals, vault: Vault) {
    this.#database = database;
    this.#signals = signals;
    this.#vault = vault;
    this.#addresses = new SignalledCache(signals, "slipway_cloud_links");
  }

  async find(organizationId: string): Promise<CloudLink | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ url: string; updated_at: Date }[]>`
        select url, updated_at from cloud_links where organization_id = ${organizationId}`,
    );
    return row && { organizationId, url: row.url, updatedAt: row.updated_at };
  }

  async address(organizationId: string): Promise<CloudAddress | undefined> {
    return this.#addresses.get(organizationId, () => this.#readAddress(organizationId));
  }

  async put({ organizationId, url, updatedAt }: CloudLink, token: Secret): Promise<void> {
    const sealed = await this.#vault.seal(token, sealedPlace(SEALED_COLUMNS.cloudToken, organizationId));
    await this.#database.run(
      (sql) => sql`
        insert into cloud_links (organization_id, url, sealed_token, updated_at)
        values (${organizationId}, ${url}, ${sealed}, ${updatedAt})
        on conflict (organization_id) do update set
          url = excluded.url, sealed_token = excluded.sealed_token, updated_at = excluded.updated_at`,
    );
    await this.#signals.settled();
  }

  async remove(organizationId: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from cloud_links where organization_id = ${organizationId}`,
    );
    if (count > 0) await this.#signals.settled();
    return count > 0;
  }

  async #readAddress(organizationId: string): Promise<CloudAddress | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ url: string; sealed_token: string }[]>`
        select url, sealed_token from cloud_links where organization_id = ${organizationId}`,
    );
    if (!row) return undefined;
    const place = sealedPlace(SEALED_COLUMNS.cloudToken, organizationId);
    return { url: row.url, token: await this.#vault.open(row.sealed_token, place) };
  }
}

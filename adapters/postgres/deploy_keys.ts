import { notFound } from "../../domain/failure.ts";
import type { DeployKey, PinnedHostKey, StoredDeployKey } from "../../domain/projects/deploy_key.ts";
import type { Secret } from "../../domain/secret.ts";
import type { DeployKeys } from "../../ports/projects/deploy_keys.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface KeyRow {
  readonly public_key: string;
  readonly key_fingerprint: string;
  readonly created_at: Date;
}

interface HostKeyRow {
  readonly host: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly pinned_at: Date;
}

/** Stores deploy keys in PostgreSQL with encrypted private parts, and pinned host keys. */
export class PostgresDeployKeys implements DeployKeys {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async find(projectId: string): Promise<StoredDeployKey | undefined> {
    const rows = await this.#database.run(
      (sql) => sql<(KeyRow & (HostKeyRow | { readonly host: null }))[]>`
        select public_key, deploy_keys.fingerprint as key_fingerprint, created_at,
          host, key, pinned_host_keys.fingerprint, pinned_at
        from deploy_keys left join pinned_host_keys using (project_id)
        where project_id = ${projectId} order by host`,
    );
    const [first] = rows;
    if (!first) return undefined;
    const { public_key: publicKey, key_fingerprint: fingerprint, created_at: createdAt } = first;
    const hostKeys = rows.flatMap((row) => (row.host === null ? [] : [hostKeyOf(row)]));
    return { projectId, publicKey, fingerprint, createdAt, hostKeys };
  }

  async privateKey(projectId: string): Promise<Secret | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ sealed_private_key: string }[]>`
        select sealed_private_key from deploy_keys where project_id = ${projectId}`,
    );
    return row && this.#vault.open(row.sealed_private_key, sealedPlace(SEALED_COLUMNS.deployKey, projectId));
  }

  async put(
    { projectId, publicKey, fingerprint, createdAt }: DeployKey,
    privateKey: Secret,
    { replace = false } = {},
  ): Promise<boolean> {
    const sealed = await this.#vault.seal(privateKey, sealedPlace(SEALED_COLUMNS.deployKey, projectId));
    const { count } = await this.#database.run<{ readonly count: number }>(
      (sql) => sql`
        insert into deploy_keys (project_id, public_key, fingerprint, sealed_private_key, created_at)
        values (${projectId}, ${publicKey}, ${fingerprint}, ${sealed}, ${createdAt})
        on conflict (project_id) do update set
          public_key = excluded.public_key, fingerprint = excluded.fingerprint,
          sealed_private_key = excluded.sealed_private_key, created_at = excluded.created_at
        where ${replace}`,
      { deploy_keys_project: noProject },
    );
    return count > 0;
  }

  async remove(projectId: string): Promise<boolean> {
    const { count } = await this.#database.run((sql) => sql`delete from deploy_keys where project_id = ${projectId}`);
    return count > 0;
  }

  async pinHostKey(
    projectId: string,
    { host, key, fingerprint, pinnedAt }: PinnedHostKey,
  ): Promise<PinnedHostKey | undefined> {
    const [row] = await this.#database.run<readonly HostKeyRow[]>(
      // The update changes nothing, but returns the row that won.
      (sql) => sql<HostKeyRow[]>`
        insert into pinned_host_keys (project_id, host, key, fingerprint, pinned_at)
        values (${projectId}, ${host}, ${key}, ${fingerprint}, ${pinnedAt})
        on conflict (project_id, host) do update set key = pinned_host_keys.key
        returning host, key, fingerprint, pinned_at`,
      { pinned_host_keys_deploy_key: () => [] },
    );
    return row && hostKeyOf(row);
  }

  async forgetHostKey(projectId: string, host: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from pinned_host_keys where project_id = ${projectId} and host = ${host}`,
    );
    return count > 0;
  }
}

function noProject(): never {
  throw notFound("project");
}

function hostKeyOf({ host, key, fingerprint, pinned_at }: HostKeyRow): PinnedHostKey {
  return { host, key, fingerprint, pinnedAt: pinned_at };
}

import type { RepositoryName } from "../../domain/githost/repository.ts";
import type { Secret } from "../../domain/secret.ts";
import type { RepositoryHook, RepositoryHooks } from "../../ports/githost/repository_hooks.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface HookRow {
  readonly owner: string;
  readonly repo: string;
  readonly hook_id: number;
  readonly created_at: Date;
}

interface SecretRow {
  readonly organization_id: string;
  readonly sealed_secret: string;
}

/** A name as it is compared. */
interface NameKey {
  readonly ownerKey: string;
  readonly repoKey: string;
}

/** Stores webhooks of repositories in PostgreSQL, with encrypted secrets. */
export class PostgresRepositoryHooks implements RepositoryHooks {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async find(organizationId: string, name: RepositoryName): Promise<RepositoryHook | undefined> {
    const { ownerKey, repoKey } = keyOf(name);
    const [row] = await this.#database.run(
      (sql) => sql<HookRow[]>`
        select owner, repo, hook_id, created_at from repository_hooks
        where organization_id = ${organizationId} and owner_key = ${ownerKey} and repo_key = ${repoKey}`,
    );
    if (!row) return undefined;
    const { owner, repo, hook_id, created_at } = row;
    return { organizationId, owner, repo, hookId: hook_id, createdAt: created_at };
  }

  async put({ organizationId, owner, repo, hookId, createdAt }: RepositoryHook, secret: Secret): Promise<void> {
    const key = keyOf({ owner, repo });
    const sealed = await this.#vault.seal(secret, placeOf(organizationId, key));
    await this.#database.run(
      (sql) => sql`
        insert into repository_hooks (organization_id, owner_key, repo_key, owner, repo, hook_id, sealed_secret,
          created_at)
        values (${organizationId}, ${key.ownerKey}, ${key.repoKey}, ${owner}, ${repo}, ${hookId}, ${sealed},
          ${createdAt})
        on conflict (organization_id, owner_key, repo_key) do update set
          owner = excluded.owner, repo = excluded.repo, hook_id = excluded.hook_id,
          sealed_secret = excluded.sealed_secret, created_at = excluded.created_at`,
    );
  }

  async secret(organizationId: string, name: RepositoryName): Promise<Secret | undefined> {
    const key = keyOf(name);
    const [row] = await this.#database.run(
      (sql) => sql<SecretRow[]>`
        select organization_id, sealed_secret from repository_hooks
        where organization_id = ${organizationId} and owner_key = ${key.ownerKey} and repo_key = ${key.repoKey}`,
    );
    return row && this.#open(key, row);
  }

  async secrets(name: RepositoryName) {
    const key = keyOf(name);
    const rows = await this.#database.run(
      (sql) => sql<SecretRow[]>`
        select organization_id, sealed_secret from repository_hooks
        where owner_key = ${key.ownerKey} and repo_key = ${key.repoKey} order by organization_id`,
    );
    return Promise.all(
      rows.map(async (row) => ({ organizationId: row.organization_id, secret: await this.#open(key, row) })),
    );
  }

  async remove(organizationId: string, name: RepositoryName): Promise<boolean> {
    const { ownerKey, repoKey } = keyOf(name);
    const { count } = await this.#database.run(
      (sql) => sql`
        delete from repository_hooks
        where organization_id = ${organizationId} and owner_key = ${ownerKey} and repo_key = ${repoKey}`,
    );
    return count > 0;
  }

  #open(key: NameKey, { organization_id, sealed_secret }: SecretRow): Promise<Secret> {
    return this.#vault.open(sealed_secret, placeOf(organization_id, key));
  }
}

function keyOf({ owner, repo }: RepositoryName): NameKey {
  return { ownerKey: owner.toLowerCase(), repoKey: repo.toLowerCase() };
}

function placeOf(organizationId: string, { ownerKey, repoKey }: NameKey) {
  return sealedPlace(SEALED_COLUMNS.hookSecret, organizationId, ownerKey, repoKey);
}

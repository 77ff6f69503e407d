import { notFound } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Variable, VariableUpsert } from "../../domain/variable.ts";
import type { Variables } from "../../ports/variables.ts";
import type { Vault } from "../../ports/vault.ts";
import type { Database } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface VariableRow {
  readonly key: string;
  readonly sealed_value: string;
  readonly secret: boolean;
  readonly updated_at: Date;
}

/** Keeps environment variables in PostgreSQL, every value sealed. */
export class PostgresVariables implements Variables {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async list(projectId: string): Promise<readonly Variable[]> {
    const rows = await this.#rows(projectId);
    return Promise.all(
      rows.map(async (row) => ({
        key: row.key,
        value: row.secret ? null : (await this.#open(projectId, row)).reveal(),
        secret: row.secret,
        updatedAt: row.updated_at,
      })),
    );
  }

  async change(
    projectId: string,
    {
      upserts,
      deletes,
      at,
    }: { readonly upserts: readonly VariableUpsert[]; readonly deletes: readonly string[]; readonly at: Date },
  ): Promise<void> {
    const sealed = await Promise.all(
      upserts.map(({ key, value }) => this.#vault.seal(value, sealedPlace(SEALED_COLUMNS.variable, projectId, key))),
    );
    const written = upserts.map(({ key }) => key);
    const [project] = await this.#database.run<readonly unknown[]>(
      (sql) => sql`
        with project as (
          select id from projects where id = ${projectId} for key share
        ), removed as (
          delete from variables
          where project_id = ${projectId} and key = any (${deletes.filter((key) => !written.includes(key))}::text[])
        ), written as (
          insert into variables (project_id, key, sealed_value, secret, updated_at)
          select project.id, upsert.key, upsert.sealed, coalesce(upsert.secret::boolean, known.secret, false),
            ${at}::timestamptz
          from project cross join unnest(
            ${written}::text[], ${sealed}::text[], ${upserts.map(({ secret }) => (secret === undefined ? null : String(secret)))}::text[]
          ) as upsert (key, sealed, secret)
          left join variables as known on known.project_id = project.id and known.key = upsert.key
          order by upsert.key
          on conflict (project_id, key) do update set
            sealed_value = excluded.sealed_value, secret = excluded.secret, updated_at = excluded.updated_at
        )
        select id from project`,
      { variables_project: () => [] },
    );
    if (!project) throw notFound("project");
  }

  async reveal(projectId: string): Promise<ReadonlyMap<string, Secret>> {
    const rows = await this.#rows(projectId);
    return new Map(await Promise.all(rows.map(async (row) => [row.key, await this.#open(projectId, row)] as const)));
  }

  #rows(projectId: string): Promise<readonly VariableRow[]> {
    return this.#database.run(
      (sql) => sql<VariableRow[]>`
        select key, sealed_value, secret, updated_at from variables where project_id = ${projectId} order by key`,
    );
  }

  #open(projectId: string, { key, sealed_value }: VariableRow): Promise<Secret> {
    return this.#vault.open(sealed_value, sealedPlace(SEALED_COLUMNS.variable, projectId, key));
  }
}

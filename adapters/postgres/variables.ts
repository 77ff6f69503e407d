import { notFound } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import { checkVariableTotals, valueBytes, type Variable, type VariableTotals } from "../../domain/projects/variable.ts";
import type { Variables } from "../../ports/projects/variables.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface VariableRow {
  readonly key: string;
  readonly sealed_value: string;
  readonly secret: boolean;
  readonly updated_at: Date;
}

interface Revision {
  readonly revision: number;
}

type VariablesChange = Parameters<Variables["change"]>[1];

interface SealedChange extends Pick<VariablesChange, "deletes" | "at"> {
  readonly rows: readonly {
    readonly key: string;
    readonly sealed: string;
    readonly bytes: number;
    readonly secret: boolean | null;
  }[];
}

/** Stores environment variables in PostgreSQL, every value encrypted. */
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

  async change(projectId: string, { upserts, deletes, at }: VariablesChange): Promise<void> {
    const sealed = await Promise.all(
      upserts.map(({ key, value }) => this.#vault.seal(value, sealedPlace(SEALED_COLUMNS.variable, projectId, key))),
    );
    const rows = upserts.map(({ key, value, secret }, index) => ({
      key,
      sealed: sealed[index]!,
      bytes: valueBytes({ value }),
      secret: secret ?? null,
    }));
    // Optimistic concurrency: holds no lock, and recounts a change whose totals were counted at an outdated revision.
    for (;;) {
      const others = await this.#others(projectId, [...deletes, ...upserts.map(({ key }) => key)]);
      if (!others) throw notFound("project");
      if (rows.length > 0) {
        const bytes = rows.reduce((sum, row) => sum + row.bytes, others.bytes);
        checkVariableTotals({ count: others.count + rows.length, bytes });
      }
      if (await this.#write(projectId, others.revision, { rows, deletes, at })) return;
    }
  }

  async reveal(projectId: string): Promise<ReadonlyMap<string, Secret>> {
    const rows = await this.#rows(projectId);
    return new Map(await Promise.all(rows.map(async (row) => [row.key, await this.#open(projectId, row)] as const)));
  }

  /** Returns the totals of a project's variables other than these keys, with the revision of its variables. */
  async #others(projectId: string, keys: readonly string[]): Promise<(VariableTotals & Revision) | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<(VariableTotals & Revision)[]>`
        select variables_revision as revision, count(key), coalesce(sum(value_bytes), 0)::integer as bytes
        from projects left join variables on project_id = id and not key = any (${keys}::text[])
        where id = ${projectId} group by id`,
    );
    return row;
  }

  /** Writes and deletes, and returns `true`, unless the variables were changed since that revision. */
  async #write(projectId: string, revision: number, { rows, deletes, at }: SealedChange): Promise<boolean> {
    const written = rows.map(({ key }) => key);
    const [project] = await this.#database.run<readonly unknown[]>(
      (sql) => sql`
        with project as (
          update projects set variables_revision = variables_revision + 1
          where id = ${projectId} and variables_revision = ${revision}
          returning id
        ), removed as (
          delete from variables using project
          where project_id = project.id and key = any (${deletes.filter((key) => !written.includes(key))}::text[])
        ), written as (
          insert into variables (project_id, key, sealed_value, value_bytes, secret, updated_at)
          select project.id, upsert.key, upsert.sealed, upsert.bytes, coalesce(upsert.secret, known.secret, false),
            ${at}::timestamptz
          from project cross join jsonb_to_recordset(${jsonValue(sql, rows)})
            as upsert (key text, sealed text, bytes integer, secret boolean)
          left join variables as known on known.project_id = project.id and known.key = upsert.key
          on conflict (project_id, key) do update set
            sealed_value = excluded.sealed_value, value_bytes = excluded.value_bytes, secret = excluded.secret,
            updated_at = excluded.updated_at
        )
        select id from project`,
      { variables_project: () => [] },
    );
    return project !== undefined;
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

import type { Environment } from "../../domain/deployments/deployment.ts";
import { notFound } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import { checkVariableTotals, valueBytes, type Variable, type VariableTotals } from "../../domain/projects/variable.ts";
import type { Variables, VariablesChange } from "../../ports/projects/variables.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { SEALED_COLUMNS, type SealedColumn, sealedPlace } from "./sealed_columns.ts";

/** The column with the values of each environment. */
const COLUMNS: Readonly<Record<Environment, SealedColumn>> = {
  production: SEALED_COLUMNS.variable,
  preview: SEALED_COLUMNS.previewVariable,
};

interface VariableRow {
  readonly key: string;
  readonly sealed_value: string;
  readonly secret: boolean;
  readonly updated_at: Date;
}

interface Revision {
  readonly revision: number;
}

/** One set of variables: the project, and the column with the values of an environment. */
interface VariableSet {
  readonly projectId: string;
  readonly column: SealedColumn;
}

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

  async list(projectId: string, environment?: Environment): Promise<readonly Variable[]> {
    const set = setOf(projectId, environment);
    const rows = await this.#rows(set);
    return Promise.all(
      rows.map(async (row) => ({
        key: row.key,
        value: row.secret ? null : (await this.#open(set, row)).reveal(),
        secret: row.secret,
        updatedAt: row.updated_at,
      })),
    );
  }

  async change(projectId: string, { upserts, deletes, at, environment }: VariablesChange): Promise<void> {
    const set = setOf(projectId, environment);
    const sealed = await Promise.all(
      upserts.map(({ key, value }) => this.#vault.seal(value, sealedPlace(set.column, projectId, key))),
    );
    const rows = upserts.map(({ key, value, secret }, index) => ({
      key,
      sealed: sealed[index]!,
      bytes: valueBytes({ value }),
      secret: secret ?? null,
    }));
    // Optimistic concurrency: holds no lock, and recounts a change whose totals were counted at an outdated revision.
    for (;;) {
      const others = await this.#others(set, [...deletes, ...upserts.map(({ key }) => key)]);
      if (!others) throw notFound("project");
      if (rows.length > 0) {
        const bytes = rows.reduce((sum, row) => sum + row.bytes, others.bytes);
        checkVariableTotals({ count: others.count + rows.length, bytes });
      }
      if (await this.#write(set, others.revision, { rows, deletes, at })) return;
    }
  }

  async reveal(projectId: string, environment?: Environment): Promise<ReadonlyMap<string, Secret>> {
    const set = setOf(projectId, environment);
    const rows = await this.#rows(set);
    return new Map(await Promise.all(rows.map(async (row) => [row.key, await this.#open(set, row)] as const)));
  }

  /** Returns the totals of a set's variables other than these keys, with the revision of the project's variables. */
  async #others(
    { projectId, column }: VariableSet,
    keys: readonly string[],
  ): Promise<(VariableTotals & Revision) | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<(VariableTotals & Revision)[]>`
        select variables_revision as revision, count(key), coalesce(sum(value_bytes), 0)::integer as bytes
        from projects left join ${sql(column.table)} on project_id = id and not key = any (${keys}::text[])
        where id = ${projectId} group by id`,
    );
    return row;
  }

  /** Writes and deletes, and returns `true`, unless the variables were changed since that revision. */
  async #write(set: VariableSet, revision: number, { rows, deletes, at }: SealedChange): Promise<boolean> {
    const { projectId, column } = set;
    const written = rows.map(({ key }) => key);
    const [project] = await this.#database.run<readonly unknown[]>(
      (sql) => sql`
        with project as (
          update projects set variables_revision = variables_revision + 1
          where id = ${projectId} and variables_revision = ${revision}
          returning id
        ), removed as (
          delete from ${sql(column.table)} using project
          where project_id = project.id and key = any (${deletes.filter((key) => !written.includes(key))}::text[])
        ), written as (
          insert into ${sql(column.table)} (project_id, key, sealed_value, value_bytes, secret, updated_at)
          select project.id, upsert.key, upsert.sealed, upsert.bytes, coalesce(upsert.secret, known.secret, false),
            ${at}::timestamptz
          from project cross join jsonb_to_recordset(${jsonValue(sql, rows)})
            as upsert (key text, sealed text, bytes integer, secret boolean)
          left join ${sql(column.table)} as known on known.project_id = project.id and known.key = upsert.key
          on conflict (project_id, key) do update set
            sealed_value = excluded.sealed_value, value_bytes = excluded.value_bytes, secret = excluded.secret,
            updated_at = excluded.updated_at
        )
        select id from project`,
      { variables_project: () => [], preview_variables_project: () => [] },
    );
    return project !== undefined;
  }

  #rows({ projectId, column }: VariableSet): Promise<readonly VariableRow[]> {
    return this.#database.run(
      (sql) => sql<VariableRow[]>`
        select key, sealed_value, secret, updated_at from ${sql(column.table)}
        where project_id = ${projectId} order by key`,
    );
  }

  #open({ projectId, column }: VariableSet, { key, sealed_value }: VariableRow): Promise<Secret> {
    return this.#vault.open(sealed_value, sealedPlace(column, projectId, key));
  }
}

function setOf(projectId: string, environment: Environment = "production"): VariableSet {
  return { projectId, column: COLUMNS[environment] };
}

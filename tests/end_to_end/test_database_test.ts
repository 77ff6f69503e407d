import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { eventually } from "../support/eventually.ts";
import { query } from "../support/database/query.ts";
import { testDatabase } from "../support/database/test_database.ts";

test("testDatabase() gives every caller an empty database of its own", async () => {
  await using first = await testDatabase();
  await query(first.url, "CREATE TABLE mine ()");
  await using second = await testDatabase();
  expect(second.url).not.toBe(first.url);
  expect(await query(second.url, "SELECT to_regclass('mine') AS found")).toEqual([{ found: null }]);
});

test("testDatabase() prepares a template once and hands out copies of it", async () => {
  let prepared = 0;
  async function prepare(url: string): Promise<void> {
    prepared++;
    await query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
  }
  const databases = await Promise.all([testDatabase({ prepare }), testDatabase({ prepare })]);
  await query(databases[0].url, "DELETE FROM kept");
  expect(await query(databases[1].url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect(prepared).toBe(1);
  await Promise.all(databases.map((database) => database[Symbol.asyncDispose]()));
});

test("testDatabase() drops the database even if a client is connected", async () => {
  const database = await testDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await sql`SELECT 1`;
  await database[Symbol.asyncDispose]();
  expect((await query(database.url, "SELECT 1").catch((error: { code: string }) => error)) as object).toMatchObject({
    code: "3D000",
  });
  await sql.end({ timeout: 1 });
});

test("testDatabase() leaves neither a process nor a file when its process is killed", async () => {
  const module = join(import.meta.dir, "../support/database/test_database.ts");
  const script = `
    const { testDatabase } = await import(${JSON.stringify(module)});
    const { default: postgres } = await import("postgres");
    const sql = postgres((await testDatabase()).url, { max: 1 });
    console.log((await sql\`SELECT pg_backend_pid() AS pid\`)[0].pid);
    setInterval(() => {}, 60_000);`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: import.meta.dir,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const backend = Number(new TextDecoder().decode(value));
  const folder = dirname(await readlink(`/proc/${backend}/cwd`));
  expect(existsSync(folder)).toBe(true);
  child.kill("SIGKILL");
  await child.exited;
  await eventually(
    async () => [folder, `/proc/${backend}/cwd`].filter((path) => existsSync(path)),
    ({ length }) => length === 0,
  );
});

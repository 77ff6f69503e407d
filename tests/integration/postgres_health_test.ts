import { expect, test } from "bun:test";
import { openDatabase } from "../../adapters/postgres/database.ts";
import { PostgresServiceHealth } from "../../adapters/postgres/service_health.ts";
import { memoryApp } from "../support/apps/app.ts";
import { migratedDatabase } from "../support/database/postgres_stores.ts";
import { eventually } from "../support/eventually.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";

/** So long that no test ends before it: an outage must be noticed without waiting for a statement. */
const STATEMENT_MS = 600_000;
/** Several times what noticing an outage may take. */
const NOTICED_MS = 5_000;

async function gatedDatabase(limitMs: number) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const gate = opened.use(await tcpGate(Number(new URL(url).port)));
  const database = openDatabase(Object.assign(new URL(url), { port: `${gate.port}` }).href, { limitMs });
  opened.defer(() => database.close());
  const held = opened.move();
  return {
    gate,
    database,
    ask: () => database.run((sql) => sql`select 1`),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

test("GET /api/health soon answers 503 when the database is silent, and 200 again once it responds", async () => {
  await using scene = await gatedDatabase(STATEMENT_MS);
  const serviceHealth = new PostgresServiceHealth(scene.database);
  const app = await memoryApp({}, () => ({ serviceHealth }));
  const health = (wanted: number) =>
    eventually(
      async () => (await app.call("GET", "/api/health")).status,
      (status) => status === wanted,
      NOTICED_MS,
    );
  await health(200);
  for (let round = 0; round < 2; round++) {
    scene.gate.freeze();
    await health(503);
    // It stays so, however often it is asked.
    for (let again = 0; again < 3; again++) expect((await app.call("GET", "/api/health")).status).toBe(503);
    scene.gate.thaw();
    await health(200);
  }
});

test("answeredAt moves with every statement that succeeds, and forgets all when the database is away", async () => {
  await using scene = await gatedDatabase(2_000);
  const { database, gate } = scene;
  expect(database.answeredAt).toBe(-Infinity);
  await scene.ask();
  const first = database.answeredAt;
  expect(first).toBeFinite();
  await scene.ask();
  expect(database.answeredAt).toBeGreaterThan(first);
  const second = database.answeredAt;
  await expect(database.run((sql) => sql`select 1 / 0`)).rejects.toThrow();
  expect(database.answeredAt).toBe(second);
  gate.freeze();
  await expect(scene.ask()).rejects.toMatchObject({ code: "database_away" });
  expect(database.answeredAt).toBe(-Infinity);
  gate.thaw();
  await eventually(
    () => scene.ask().catch(() => undefined),
    (answer) => answer !== undefined,
  );
  expect(database.answeredAt).toBeFinite();
});

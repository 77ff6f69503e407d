import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { runningEmbeddedPostgres } from "../../adapters/embedded_postgres/running_embedded_postgres.ts";
import { postgresWorld } from "../../adapters/postgres/postgres_world.ts";
import { newToken } from "../../domain/identity/token.ts";
import { eventually } from "../support/eventually.ts";
import { OpenRequest } from "../support/servers/http_client.ts";
import { query } from "../support/database/query.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { commandLine, commandOutcome, printedToken, SlipwayProcess } from "../support/servers/slipway_process.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** Creates resources of several kinds; returns a function that checks that all of them exist. */
async function seed(slipway: SlipwayProcess) {
  const { call, owner: token } = slipway;
  const project = await call("POST", "/api/projects", { token, body: { name: "Harbour" } });
  const id = project.body.data.id as string;
  await call("PATCH", `/api/projects/${id}/env`, { token, body: { upserts: [{ key: "COLOR", value: "blue" }] } });
  const minted = await call("POST", "/api/tokens", { token, body: { name: "mine" } });
  const mine = minted.body.data.token as string;
  return async () => {
    for (const credential of [token, mine]) {
      const found = await call("GET", `/api/projects/${id}`, { token: credential });
      expect(found).toMatchObject({ status: 200, body: { data: { name: "Harbour" } } });
    }
    const { body } = await call("GET", `/api/projects/${id}/env`, { token });
    expect(body.data).toMatchObject([{ key: "COLOR", value: "blue" }]);
  };
}

/**
 * Starts a server repeatedly and kills it at random moments. Then lets one run, and expects that the installation was
 * initialized exactly once.
 */
async function survives(slipway: SlipwayProcess, longestMs: number): Promise<void> {
  const shown: string[] = [];
  const moment = randomInput(`kill within ${longestMs} ms`);
  for (let round = 0; round < 6; round++) {
    const program = slipway.launch();
    await Bun.sleep(moment.fraction() * longestMs);
    await slipway.kill();
    const token = printedToken(program.stdout);
    if (token) shown.push(token);
  }
  await slipway.start();
  const token = printedToken(slipway.program.stdout);
  if (token) shown.push(token);
  expect(shown.length).toBeLessThanOrEqual(1);
  // If it was killed between storing the first owner and printing the token, only a configured token gives access.
  const [known = newToken()] = shown;
  if (shown.length === 0) {
    await slipway.stop();
    await slipway.start({ SLIPWAY_ADMIN_TOKEN: known });
  }
  const { status, body } = await slipway.call("GET", "/api/members", { token: known });
  expect({ status, total: body.total }).toEqual({ status: 200, total: 1 });
}

/** Opens an upload session and sends half of an archive. */
async function halfUpload(slipway: SlipwayProcess, archive: Uint8Array) {
  const { address, owner: token, call, folder } = slipway;
  const opened = await call("POST", "/api/projects/folder/session", { token, body: {} });
  const id = opened.body.sessionId as string;
  const path = `/api/projects/folder/upload/${id}`;
  const request = await OpenRequest.open(address, { path, token });
  await request.write(archive.subarray(0, archive.length / 2));
  const home = join(folder, "uploads", id);
  const parts = await eventually(
    () => readdir(home).catch(() => []),
    (names) => names.length > 0,
  );
  expect(parts).toEqual([expect.stringMatching(/\.part$/)]);
  return { id, path, home, request };
}

describe("killed with SIGKILL", () => {
  test("at any moment of its first start, it starts over or resumes", async () => {
    await using slipway = await SlipwayProcess.prepare();
    await survives(slipway, 2_500);
  });

  test("while it creates the tables of a shared database, it creates the rest the next time", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.prepare({ DATABASE_URL: database.url });
    await survives(slipway, 500);
    expect(await query(database.url, "select 1 from users where founder")).toHaveLength(1);
  });

  test("in the middle of an upload, the session accepts it again once its lease expired, and nothing is left over", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const intact = await seed(slipway);
    const archive = tarGz([file("index.html", randomInput("an upload to a killed server").bytes(400_000))]);
    const [sentAgain, given] = [await halfUpload(slipway, archive), await halfUpload(slipway, archive)];
    await slipway.kill();
    for (const { request } of [sentAgain, given]) request.cut();
    const expired = `update upload_sessions set expires_at = now() - interval '2 hours', lease_until = now() - interval '2 hours'`;
    await query(database.url, `${expired} where id = '${given.id}'`);
    await slipway.start();
    await intact();
    const send = () => slipway.call("POST", sentAgain.path, { token: slipway.owner, raw: archive });
    expect(await send()).toMatchObject({ status: 409, body: { code: "upload_running" } });
    await query(database.url, `update upload_sessions set lease_until = now() where id = '${sentAgain.id}'`);
    expect(await send()).toMatchObject({ status: 200, body: { bytes: archive.length, files: 1 } });
    expect(await readdir(sentAgain.home)).toEqual(["tree"]);
    const uploads = await eventually(
      () => readdir(join(slipway.folder, "uploads")),
      (names) => !names.includes(given.id),
    );
    expect(uploads).toEqual([sentAgain.id]);
    expect((await readdir(slipway.folder)).toSorted()).toEqual(["instances", "secret.key", "uploads"]);
  });

  test("in the middle of a request with an Idempotency-Key, the key works again once its lease expired", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const intact = await seed(slipway);
    const create = () =>
      slipway.call("POST", "/api/projects", {
        token: slipway.owner,
        body: { name: "Quay" },
        headers: { "idempotency-key": "the-one" },
      });
    const hand = postgres(database.url, { max: 1, onnotice: () => {} });
    // The server's own maintenance may wait for the lock, too.
    const text =
      "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into projects%'";
    const waiting = () => query(database.url, text);
    await hand
      .begin(async (sql) => {
        await sql`lock table projects in access exclusive mode`;
        const cut = create().catch((error: unknown) => error);
        const held = await eventually(waiting, (found) => found.length > 0);
        expect(held).toHaveLength(1);
        await slipway.kill();
        expect(await cut).toBeInstanceOf(Error);
        await query(database.url, `select pg_terminate_backend(${held[0]!["pid"]}, 10000)`);
      })
      .finally(() => hand.end());
    await slipway.start();
    await intact();
    await query(database.url, "update idempotent_answers set lease_until = now()");
    const [first, second] = [await create(), await create()];
    expect(first.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await query(database.url, "select 1 from projects where name = 'Quay'")).toHaveLength(1);
  });

  test("at any moment of a key rotation while the server writes, the next rotation finishes it; every secret stays readable", async () => {
    await using slipway = await SlipwayProcess.start();
    const { call, owner: token } = slipway;
    const intact = await seed(slipway);
    const project = await call("POST", "/api/projects", { token, body: { name: "Sealed" } });
    const id = project.body.data.id as string;
    const expected = new Map<string, string>();
    const write = async (keys: readonly string[]) => {
      const upserts = keys.map((key) => ({ key, value: `value ${crypto.randomUUID()}`, secret: true }));
      expect((await call("PATCH", `/api/projects/${id}/env`, { token, body: { upserts } })).status).toBe(200);
      for (const { key, value } of upserts) expected.set(key, value);
    };
    const names = Array.from({ length: 300 }, (_, index) => `KEPT_${index}`);
    for (let from = 0; from < names.length; from += 50) await write(names.slice(from, from + 50));
    const writing = new AbortController();
    const writer = (async () => {
      for (let turn = 0; !writing.signal.aborted; turn++) await write([`BUSY_${turn % 30}`, `KEPT_${turn % 300}`]);
    })();
    const moment = randomInput("kill a rotation");
    for (let round = 0; round < 6; round++) {
      await using rotation = commandLine(["rotate-key"], slipway.settings);
      await Promise.race([rotation.ended, Bun.sleep(200 + moment.fraction() * 600)]);
    }
    let finished = await commandOutcome(["rotate-key"], slipway.settings);
    // A process killed while writing the key file blocks others for ten seconds.
    for (let tries = 0; finished.stderr.includes("another process is adding one") && tries < 30; tries++) {
      await Bun.sleep(1_000);
      finished = await commandOutcome(["rotate-key"], slipway.settings);
    }
    expect(finished).toMatchObject({ code: 0, stderr: "" });
    writing.abort();
    await writer;
    await slipway.kill();
    await slipway.start();
    await intact();
    const vault = await CryptoVault.load({ folder: slipway.folder });
    await using world = await postgresWorld({ url: (await runningEmbeddedPostgres(slipway.folder))!, vault });
    const stored = await world.variables.reveal(id);
    expect(new Map(stored.entries().map(([key, value]) => [key, value.reveal()]))).toEqual(expected);
  });
});

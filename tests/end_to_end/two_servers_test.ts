import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CryptoVault } from "../../adapters/crypto/vault.ts";
import { postgresWorld } from "../../adapters/postgres/postgres_world.ts";
import { browser, login, member, ownerSession } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { OpenRequest } from "../support/servers/http_client.ts";
import { query } from "../support/database/query.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { commandOutcome, printedToken, SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** Two servers that start concurrently on one empty database, key and data folder. */
async function pair() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase());
  const { data } = opened.use(await temporaryPlace());
  const settings = { DATABASE_URL: url, SLIPWAY_DATA: data };
  const starting = [SlipwayProcess.start(settings), SlipwayProcess.start(settings)] as const;
  const started = await Promise.allSettled(starting);
  for (const outcome of started) if (outcome.status === "fulfilled") opened.use(outcome.value);
  const [a, b] = await Promise.all(starting);
  const tokens = [a, b].map(({ program }) => printedToken(program.stdout)).filter((token) => token !== undefined);
  const lifetime = opened.move();
  return { url, data, settings, a, b, tokens, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

test("of two that start at once on an empty database, one creates the first owner and shows the token", async () => {
  for (let round = 0; round < 3; round++) {
    await using servers = await pair();
    expect(servers.tokens).toHaveLength(1);
    for (const { call } of [servers.a, servers.b]) {
      expect((await call("GET", "/api/auth/me", { token: servers.tokens[0]! })).status).toBe(200);
    }
    expect(await query(servers.url, "select 1 from users")).toHaveLength(1);
    expect(await query(servers.url, "select 1 from organizations")).toHaveLength(1);
    expect((await readFile(join(servers.data, "secret.key"), "utf8")).trim().split("\n")).toHaveLength(1);
    expect(await query(servers.url, "select 1 from vault_keys")).toHaveLength(1);
  }
});

describe("two servers on one database", () => {
  let servers: Awaited<ReturnType<typeof pair>>;
  let a: { call: SlipwayProcess["call"]; owner: string };
  let b: { call: SlipwayProcess["call"]; owner: string };
  let token: string;

  beforeAll(async () => {
    servers = await pair();
    token = servers.tokens[0]!;
    [a, b] = [servers.a, servers.b].map(({ call }) => ({ call, owner: token })) as [typeof a, typeof b];
  });

  afterAll(() => servers?.[Symbol.asyncDispose]());

  test("a token that one revokes is refused by the other at once", async () => {
    for (let round = 0; round < 50; round++) {
      const [here, there] = round % 2 ? [a, b] : [b, a];
      const minted = await here.call("POST", "/api/tokens", { token, body: { name: "t" } });
      const short = minted.body.data as { id: string; token: string };
      const use = () => there.call("GET", "/api/auth/me", { token: short.token });
      expect([(await use()).status, (await use()).status]).toEqual([200, 200]);
      await here.call("DELETE", `/api/tokens/${short.id}`, { token });
      expect({ round, status: (await use()).status }).toEqual({ round, status: 401 });
    }
  });

  test("a session opened on one is valid on the other, until it is ended there", async () => {
    const { email, password } = await member(a, "developer");
    for (let round = 0; round < 5; round++) {
      const cookie = await login(a, email, password);
      expect((await b.call("GET", "/api/auth/me", { cookie })).status).toBe(200);
      expect((await b.call("POST", "/api/auth/logout", browser(cookie))).status).toBe(200);
      expect((await a.call("GET", "/api/auth/me", { cookie })).status).toBe(401);
    }
  });

  test("a changed role and a removal apply on the other at once", async () => {
    for (let round = 0; round < 5; round++) {
      const { userId, token: theirs, cookie } = await member(a, "viewer");
      const create = () =>
        b.call("POST", "/api/projects", { token: theirs, body: { name: `Quay ${crypto.randomUUID()}` } });
      expect((await create()).status).toBe(403);
      await a.call("PATCH", `/api/members/${userId}`, { token, body: { role: "developer" } });
      expect((await create()).status).toBe(201);
      await a.call("PATCH", `/api/members/${userId}`, { token, body: { role: "viewer" } });
      expect((await create()).status).toBe(403);
      expect((await b.call("GET", "/api/auth/me", { cookie })).status).toBe(200);
      await a.call("DELETE", `/api/members/${userId}`, { token });
      expect((await create()).status).toBe(401);
      // Without an organization, a session has nothing to act on.
      expect((await b.call("GET", "/api/projects", { cookie })).status).toBeOneOf([401, 403, 404]);
    }
  });

  test("a new password ends the other sessions on both", async () => {
    const { email, password } = await member(a, "developer");
    const [kept, ...others] = [
      await login(a, email, password),
      await login(a, email, password),
      await login(b, email, password),
    ];
    const both = async (cookie: string) =>
      Promise.all([a, b].map(async ({ call }) => (await call("GET", "/api/auth/me", { cookie })).status));
    for (const cookie of [kept!, ...others]) expect(await both(cookie)).toEqual([200, 200]);
    const body = { password: "another long password", current: password };
    expect((await b.call("POST", "/api/auth/password", { ...browser(kept!), body })).status).toBe(200);
    for (const cookie of others) expect(await both(cookie)).toEqual([401, 401]);
    expect(await both(kept!)).toEqual([200, 200]);
  });

  test("failed logins are counted together", async () => {
    const { email } = await member(a, "viewer");
    const guess = (server: typeof a) => server.call("POST", "/api/auth/login", { body: { email, password: "wrong" } });
    // The rate limit window may end in between and reset, but not twice in a row.
    const statuses = await eventually(
      async () =>
        (await Promise.all(Array.from({ length: 12 }, (_, turn) => guess(turn % 2 ? a : b)))).map(
          ({ status }) => status,
        ),
      (all) => all.includes(429),
    );
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(statuses).toContain(429);
    const last = await guess(a);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("an Idempotency-Key sent to both at once runs once, and both return the same response", async () => {
    for (let round = 0; round < 10; round++) {
      const headers = { "idempotency-key": crypto.randomUUID() };
      const body = { name: `Once ${headers["idempotency-key"]}` };
      const answers = await Promise.all(
        [a, b, a, b].map(({ call }) => call("POST", "/api/projects", { token, body, headers })),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]!.status).toBe(201);
      expect(answers.filter((answer) => answer.headers.has("idempotency-replayed"))).toHaveLength(3);
      expect(await query(servers.url, `select 1 from projects where name = '${body.name}'`)).toHaveLength(1);
    }
  });

  test("an upload may be opened on one, sent to the other and scanned on the first", async () => {
    const opened = await a.call("POST", "/api/projects/folder/session", { token, body: {} });
    const id = opened.body.sessionId as string;
    const raw = tarGz([file("package.json", '{"scripts": {"build": "x"}, "dependencies": {"astro": "5"}}')]);
    const sent = await b.call("POST", `/api/projects/folder/upload/${id}`, { token, raw });
    expect(sent.body).toMatchObject({ success: true, files: 1 });
    const other = tarGz([file("package.json", '{"dependencies": {"next": "15"}}'), file("package-lock.json", "{}")]);
    const again = await a.call("POST", `/api/projects/folder/upload/${id}`, { token, raw: other });
    expect(again.body).toMatchObject({ success: true, files: 2 });
    expect((await b.call("POST", `/api/projects/folder/upload/${id}`, { token, raw })).status).toBe(200);
    const scanned = await a.call("POST", `/api/projects/folder/scan/${id}`, { token });
    expect(scanned.body.data).toMatchObject({ language: "javascript", framework: "astro" });
  });

  test("a server that was paused during an upload does not damage what the other received instead", async () => {
    const opened = await a.call("POST", "/api/projects/folder/session", { token, body: {} });
    const id = opened.body.sessionId as string;
    const path = `/api/projects/folder/upload/${id}`;
    const home = join(servers.data, "uploads", id);
    const noise = randomInput("uploads to two servers");
    const [slow, quick] = [50_000, 60_000].map((size) => noise.bytes(size));
    const archive = tarGz([file("large.bin", noise.bytes(900_000)), file("index.html", slow)]);
    using request = await OpenRequest.open(servers.a.address, { path, token });
    await request.write(archive.subarray(0, 500_000));
    await eventually(
      () => readdir(home).catch(() => []),
      (names) => names.length > 0,
    );
    servers.a.program.signal("SIGSTOP");
    try {
      await query(servers.url, `update upload_sessions set lease_until = now() where id = '${id}'`);
      const instead = await b.call("POST", path, { token, raw: tarGz([file("index.html", quick)]) });
      expect(instead.status).toBe(200);
    } finally {
      servers.a.program.signal("SIGCONT");
    }
    await request.write(archive.subarray(500_000));
    await request.finish();
    expect(await request.answer()).toMatchObject({ status: 409, body: { success: false } });
    expect(await readdir(join(home, "tree"))).toEqual(["index.html"]);
    expect(new Uint8Array(await readFile(join(home, "tree/index.html")))).toEqual(quick!);
    expect((await a.call("POST", `/api/projects/folder/scan/${id}`, { token })).status).toBe(200);
  });

  test("the secret key can be changed while both write; afterwards both use the new one", async () => {
    const project = await a.call("POST", "/api/projects", { token, body: { name: "Sealed" } });
    const id = project.body.data.id as string;
    const expected = new Map<string, string>();
    const write = async (server: typeof a, key: string) => {
      const value = `value ${crypto.randomUUID()}`;
      const upserts = [{ key, value, secret: true }];
      expect((await server.call("PATCH", `/api/projects/${id}/env`, { token, body: { upserts } })).status).toBe(200);
      expected.set(key, value);
    };
    for (let index = 0; index < 20; index++) await write(a, `KEPT_${index}`);
    const writing = new AbortController();
    const writers = [a, b].map(async (server, which) => {
      for (let turn = 0; !writing.signal.aborted; turn++) await write(server, `BUSY_${which}_${turn % 20}`);
    });
    const rotated = await commandOutcome(["rotate-key"], servers.settings);
    expect(rotated).toMatchObject({ code: 0, stderr: "" });
    writing.abort();
    await Promise.all(writers);
    const vault = await CryptoVault.load({ folder: servers.data });
    const sealedBy = async (key: string) =>
      (
        await query(servers.url, `select split_part(sealed_value, '.', 2) as by from variables where key = '${key}'`)
      )[0]!["by"];
    for (const [server, key] of [
      [a, "AFTER_A"],
      [b, "AFTER_B"],
    ] as const) {
      const by = await eventually(
        async () => {
          await write(server, key);
          return sealedBy(key);
        },
        (keyId) => keyId === vault.keyId(),
      );
      expect(by).toBe(vault.keyId());
    }
    await using world = await postgresWorld({ url: servers.url, vault });
    const stored = await world.variables.reveal(id);
    expect(new Map(stored.entries().map(([key, value]) => [key, value.reveal()]))).toEqual(expected);
  });

  test("one keeps running while the other is stopped or killed and comes back", async () => {
    const cookie = await ownerSession(a);
    await servers.b.stop();
    expect((await a.call("GET", "/api/auth/me", { cookie })).status).toBe(200);
    await servers.b.start();
    expect((await b.call("GET", "/api/auth/me", { cookie })).status).toBe(200);
    await servers.a.kill();
    expect((await b.call("GET", "/api/projects", { token })).status).toBe(200);
    await servers.a.start();
    expect(servers.a.program.stdout).not.toContain("slp_");
    expect((await a.call("GET", "/api/projects", { token })).status).toBe(200);
  });
});

import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { embeddedPostgres } from "../support/database/embedded_postgres.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import { type Answer, member } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { query } from "../support/database/query.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";

/** Longer than any request may take without its database. */
const HUNG_MS = 30_000;

/** A PostgreSQL that can be stopped, restarted and cut off, at a stable address that leads through the gate. */
async function stoppablePostgres() {
  await using opened = new AsyncDisposableStack();
  const { data: folder } = opened.use(await temporaryPlace());
  let running = opened.use(await embeddedPostgres({ folder }));
  const gate = opened.use(await tcpGate(() => Number(new URL(running.url).port)));
  const lifetime = opened.move();
  return {
    gate,
    url: Object.assign(new URL(running.url), { port: String(gate.port) }).href,
    stop: () => running[Symbol.asyncDispose](),
    async startAgain() {
      running = lifetime.use(await embeddedPostgres({ folder }));
    },
    /** Runs a statement directly, bypassing the server and the gate. */
    run: (text: string) => query(running.url, text),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** One request of every kind, by name. Each succeeds however often it is sent. */
async function requests(slipway: SlipwayProcess): Promise<Record<string, () => Promise<Answer>>> {
  const { call, owner: token } = slipway;
  const project = await call("POST", "/api/projects", { token, body: { name: "Harbour" } });
  const id = project.body.data.id as string;
  const password = "correct horse battery";
  await call("POST", "/api/auth/password", { token, body: { password } });
  const create = (headers: Record<string, string> = {}) =>
    call("POST", "/api/projects", { token, body: { name: `Project ${crypto.randomUUID()}` }, headers });
  return {
    me: () => call("GET", "/api/auth/me", { token }),
    list: () => call("GET", "/api/projects", { token }),
    stranger: () => call("GET", "/api/projects", { token: "slp_unknown" }),
    create: () => create(),
    "create once": () => create({ "idempotency-key": crypto.randomUUID() }),
    variable: () => call("PATCH", `/api/projects/${id}/env`, { token, body: { upserts: [{ key: "A", value: "b" }] } }),
    login: () => call("POST", "/api/auth/login", { body: { email: "owner@localhost", password } }),
    async upload() {
      const opened = await call("POST", "/api/projects/folder/session", { token, body: {} });
      if (opened.status !== 200) return opened;
      const raw = tarGz([file("index.html")]);
      return call("POST", `/api/projects/folder/upload/${opened.body.sessionId}`, { token, raw });
    },
  };
}

/** Sends a request; rejects if no response arrives in time. */
function answered(what: string, send: () => Promise<Answer>): Promise<Answer> {
  const late = Bun.sleep(HUNG_MS).then(() => {
    throw new Error(`${what} got no answer`);
  });
  return Promise.race([send(), late]);
}

type Sends = Readonly<Record<string, () => Promise<Answer>>>;

/** Returns the requests that do not work, with their answers. */
async function notWorking(sends: Sends): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [what, send] of Object.entries(sends)) {
    const { status, text } = await answered(what, send);
    const isFine = what === "stranger" ? status === 401 : status < 300;
    if (!isFine) failed.push(`${what}: ${status} ${text}`);
  }
  return failed;
}

async function expectAllWork(sends: Sends): Promise<void> {
  expect(await notWorking(sends)).toEqual([]);
}

function expectAway(what: string, { status, body, text }: Answer): void {
  const away = status === 503 && ["database_away", "database_busy"].includes(body.code);
  if (!away) throw new Error(`${what} does not say that the database is away: ${status} ${text}`);
}

async function healthy(slipway: SlipwayProcess, status: number): Promise<void> {
  const health = await eventually(
    () => answered("health", () => slipway.call("GET", "/api/health")),
    (answer) => answer.status === status,
  );
  expect(health.status).toBe(status);
}

describe("without its database", () => {
  test("every request is answered with 503 while it is stopped, and all work again once it is back", async () => {
    await using database = await stoppablePostgres();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const sends = await requests(slipway);
    await expectAllWork(sends);
    const busy = new AbortController();
    const seen: { what: string; answer: Answer }[] = [];
    const callers = Promise.all(
      Object.entries(sends).map(async ([what, send]) => {
        while (!busy.signal.aborted) seen.push({ what, answer: await answered(what, send) });
      }),
    );
    // Reports the first failure, not that the server is gone afterwards.
    callers.catch(() => {});
    using _ = { [Symbol.dispose]: () => busy.abort() };
    await eventually(
      async () => seen.length,
      (count) => count > 30,
    );
    await database.stop();
    await healthy(slipway, 503);
    for (const [what, send] of Object.entries(sends)) expectAway(what, await answered(what, send));
    await database.startAgain();
    await healthy(slipway, 200);
    busy.abort();
    await callers;
    await expectAllWork(sends);
    const failures = seen.filter(({ answer }) => answer.status >= 400 && answer.status !== 401);
    expect(failures.length).toBeGreaterThan(0);
    for (const { what, answer } of failures) expectAway(what, answer);
    expect(slipway.program.stderr).not.toContain('"level":"error"');
  });

  test("requests get 503 while nothing listens at its address, and a shutdown then still succeeds", async () => {
    await using database = await stoppablePostgres();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const sends = await requests(slipway);
    for (let round = 0; round < 3; round++) {
      await database.gate.shut();
      const away = Object.entries(sends).map(async ([what, send]) => expectAway(what, await answered(what, send)));
      await Promise.all(away);
      await healthy(slipway, 503);
      await database.gate.open();
      await healthy(slipway, 200);
      await expectAllWork(sends);
    }
    await database.gate.shut();
    expect(await slipway.stop()).toMatchObject({ code: 0, signal: null });
  });

  test("a database that stops responding counts as unavailable after seconds, and is used again once it responds", async () => {
    await using database = await stoppablePostgres();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const sends = await requests(slipway);
    database.gate.freeze();
    const away = Object.entries(sends).map(async ([what, send]) => expectAway(what, await answered(what, send)));
    await healthy(slipway, 503);
    await Promise.all(away);
    database.gate.thaw();
    await healthy(slipway, 200);
    await expectAllWork(sends);
  });

  test("a credential or role that was removed in the meantime is refused afterwards", async () => {
    await using database = await stoppablePostgres();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const { call, owner } = slipway;
    const made = await call("POST", "/api/tokens", { token: owner, body: { name: "t" } });
    const token = made.body.data.token as string;
    const [removed, demoted] = [await member(slipway, "admin"), await member(slipway, "admin")];
    // /metrics reads nothing from the database: only the cached identity of the caller decides.
    const ask = async () => {
      const metrics = (credential: { token: string } | { cookie: string }) => call("GET", "/metrics", credential);
      const invite = { body: { email: `${crypto.randomUUID()}@example.com`, role: "viewer" } };
      const answers = [metrics({ token }), metrics({ cookie: removed.cookie }), metrics({ token: removed.token })];
      const all = [...answers, call("POST", "/api/members", { token: demoted.token, ...invite })];
      return (await Promise.all(all)).map(({ status }) => status);
    };
    expect(await ask()).toEqual([200, 200, 200, 201]);
    await database.gate.shut();
    await eventually(ask, (statuses) => statuses.every((status) => status === 503));
    await database.run(`update tokens set revoked_at = now() where fingerprint = '${fingerprint(token)}'`);
    await database.run(`delete from sessions where user_id = '${removed.userId}'`);
    await database.run(`delete from members where user_id = '${removed.userId}'`);
    await database.run(`update members set role = 'viewer' where user_id = '${demoted.userId}'`);
    const seen: number[][] = [];
    const reopened = Bun.sleep(100).then(() => database.gate.open());
    const last = await eventually(
      async () => {
        seen.push(await ask());
        return seen.at(-1)!;
      },
      (statuses) => !statuses.includes(503),
    );
    await reopened;
    expect(last).toEqual([401, 401, 401, 403]);
    expect(seen.flat().filter((status) => status < 300)).toEqual([]);
  });

  test("an embedded PostgreSQL that is killed is restarted by itself", async () => {
    await using slipway = await SlipwayProcess.start();
    const sends = await requests(slipway);
    for (let round = 0; round < 3; round++) {
      const pid = parseInt(await readFile(join(slipway.folder, "postgres/postmaster.pid"), "utf8"), 10);
      process.kill(pid, "SIGKILL");
      const answers = await Promise.all(
        Object.entries(sends).map(async ([what, send]) => ({ what, answer: await answered(what, send) })),
      );
      for (const { what, answer } of answers.filter(({ answer: { status } }) => status >= 400 && status !== 401))
        expectAway(what, answer);
      await eventually(
        async () =>
          parseInt(await readFile(join(slipway.folder, "postgres/postmaster.pid"), "utf8").catch(() => "0"), 10),
        (found) => found !== pid && found > 0,
      );
      // Not its health, which may still be that from before: it is looked at once a second.
      const failed = await eventually(
        () => notWorking(sends),
        (left) => left.length === 0,
      );
      expect(failed).toEqual([]);
    }
  });
});

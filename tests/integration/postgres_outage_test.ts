import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import postgres from "postgres";
import { openDatabase } from "../../adapters/postgres/database.ts";
import { Failure } from "../../domain/failure.ts";
import { eventually } from "../support/eventually.ts";
import { sessionOf } from "../support/database/upload_session_builders.ts";
import { migratedDatabase, openStores } from "../support/database/postgres_stores.ts";
import { anOrganization, founderOf } from "../support/database/store_builders.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";

const AWAY = { name: "Failure", kind: "unavailable", code: "database_away" };

/** Stores that connect to their database through a gate, with a short timeout. */
async function behindAGate(limitMs = 8_000) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const gate = opened.use(await tcpGate(Number(new URL(url).port)));
  const gated = Object.assign(new URL(url), { port: `${gate.port}` }).href;
  const world = opened.use(await openStores({ url: gated, limitMs }));
  const organization = await anOrganization(world);
  const held = opened.move();
  return {
    ...world,
    url,
    gate,
    ask: () => world.organizations.list([organization.id], { page: 1, perPage: 1 }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

describe("without PostgreSQL", () => {
  test("stores fail as unavailable while it is gone, and work again once it is back", async () => {
    await using world = await behindAGate();
    await world.gate.shut();
    for (let attempt = 0; attempt < 20; attempt++) await expect(world.ask()).rejects.toMatchObject(AWAY);
    expect(await world.serviceHealth.databaseAnswers()).toBe(false);
    await eventually(
      async () => world.signals.live,
      (live) => !live,
    );
    await world.gate.open();
    expect((await world.ask()).total).toBe(1);
    expect(await world.serviceHealth.databaseAnswers()).toBe(true);
    await world.signals.whenLive();
  });

  test("every connection works again after many were cut in the middle of statements", async () => {
    await using world = await behindAGate();
    const hand = postgres(world.url, { max: 1, onnotice: () => {} });
    const cutting = new AbortController();
    const codes = new Set<unknown>();
    const callers = Array.from({ length: 20 }, async () => {
      while (!cutting.signal.aborted) {
        await world.ask().catch((error: unknown) => codes.add(error instanceof Failure ? error.code : error));
      }
    });
    for (let round = 0; round < 15; round++) {
      await hand`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      await Bun.sleep(20);
    }
    cutting.abort();
    await Promise.all(callers);
    await hand.end();
    expect([...codes]).toEqual(["database_away"]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask()));
    expect(answers.every(({ total }) => total === 1)).toBe(true);
  });

  test("an upload that waits for its turn fails, and nothing else does, when its connection is cut", async () => {
    await using world = await behindAGate();
    const organizationId = (await anOrganization(world)).id;
    const userId = (await founderOf(world)).id;
    const create = () => world.uploadSessions.create(sessionOf({ organizationId, userId }), options);
    const options = { lifetimeMs: 60_000, quota: { perUser: 10, perOrganization: 10 } };
    const hand = postgres(world.url, { max: 2, onnotice: () => {} });
    const waiting = () => hand`select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
    await hand.begin(async (held) => {
      await held`select 1 from organizations where id = ${organizationId} for update`;
      const created = create();
      await eventually(waiting, ({ length }) => length > 0);
      await world.gate.shut();
      await expect(created).rejects.toMatchObject(AWAY);
    });
    await hand.end();
    await world.gate.open();
    expect((await world.ask()).total).toBe(1);
    expect(await create()).toMatchObject({ outcome: "created" });
  });

  test("a database that goes silent is abandoned, and used again once it responds", async () => {
    await using world = await behindAGate(3_000);
    await world.ask();
    world.gate.freeze();
    await expect(world.ask()).rejects.toMatchObject(AWAY);
    world.gate.thaw();
    const answered = await eventually(
      () => world.ask().catch(() => undefined),
      (answer) => answer !== undefined,
    );
    expect(answered?.total).toBe(1);
  });

  test("a peer that accepts and hangs up fails statements instead of endless reconnects", async () => {
    let calls = 0;
    const peer = createServer((socket) => {
      calls++;
      socket.end();
    });
    await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
    const { port } = peer.address() as { port: number };
    const database = openDatabase(`postgres://postgres@127.0.0.1:${port}/none`);
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(database.run((sql) => sql`select 1`)).rejects.toMatchObject(AWAY);
    }
    expect(calls).toBeLessThan(10);
    await database.close();
    peer.close();
  });

  test("a failure says why, but reveals neither address nor password", async () => {
    await using database = await migratedDatabase();
    const password = "swordfish-swordfish";
    const wrong = Object.assign(new URL(database.url), { password }).href;
    const missing = Object.assign(new URL(database.url), { pathname: "/nowhere" }).href;
    const unknown = Object.assign(new URL(database.url), { search: "?no_such_parameter=1" }).href;
    const expected = [
      [wrong, "it rejects the user or the password of DATABASE_URL"],
      [missing, "it has no database of the name in DATABASE_URL"],
      [unknown, "it rejects a parameter of DATABASE_URL, or the connection for another reason"],
      [`postgres://u:${password}@127.0.0.1:1/x`, "nothing listens at its address"],
    ] as const;
    for (const [url, reason] of expected) {
      const away = openDatabase(url);
      const failure = await away.run((sql) => sql`select 1`).catch((error: unknown) => error as Error);
      expect(failure).toMatchObject(AWAY);
      expect((failure as Error).message).toBe(`Cannot reach the database: ${reason}`);
      await away.close();
    }
  });

  test("an address in brackets is not treated as a name", async () => {
    const away = openDatabase("postgres://u:p@[::1]:1/x");
    const failure = await away.run((sql) => sql`select 1`).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject(AWAY);
    expect((failure as Error).message).not.toContain("name");
    await away.close();
  });

  test("an invalid address is refused by the name of its setting", () => {
    expect(() => openDatabase("postgres://[")).toThrow("Cannot use DATABASE_URL");
  });

  test("stores can be closed while it is gone or silent", async () => {
    for (const fault of ["shut", "freeze"] as const) {
      await using world = await behindAGate(3_000);
      world.identities.used({ kind: "token", id: "tok_1" }, new Date());
      await world.gate[fault]();
      await world[Symbol.asyncDispose]();
      await expect(world.ask()).rejects.toMatchObject(AWAY);
    }
  });
});

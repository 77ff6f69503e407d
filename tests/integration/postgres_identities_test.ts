import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { IdentityCache } from "../../adapters/postgres/identity_cache.ts";
import { newId } from "../../domain/id.ts";
import type { Identity } from "../../domain/identity/identity.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import {
  aMember,
  anOrganization,
  aToken,
  minutes,
  START,
  uniqueFingerprint,
} from "../support/database/store_builders.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";

/**
 * Stores that count their statements, a connection to change rows directly, and a member with a token and a session.
 */
async function aCachedCaller(options: { readonly beatMs?: number } = {}) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const statements: string[] = [];
  const vault = await vaultOf();
  const world = opened.use(await openStores({ ...options, url, vault, onStatement: (text) => statements.push(text) }));
  const hand = postgres(url, { max: 1, onnotice: () => {} });
  opened.defer(() => hand.end());
  const { id: organizationId } = await anOrganization(world);
  const userId = await aMember(world, organizationId, { role: "developer" });
  const { token, fingerprint } = await aToken(world, { organizationId, userId });
  const cookie = await uniqueFingerprint();
  const session = { id: newId("ses"), userId, createdAt: START, expiresAt: minutes(60) };
  await world.sessions.create(session, cookie);
  const held = opened.move();
  return {
    ...world,
    url,
    vault,
    hand,
    organizationId,
    userId,
    token,
    fingerprint,
    session,
    cookie,
    /** The number of statements that the next lookup needs. */
    async statements(kind: "token" | "session" = "token"): Promise<number> {
      statements.length = 0;
      await world.identities.find(kind, kind === "token" ? fingerprint : cookie);
      return statements.length;
    },
    async remembered(): Promise<void> {
      for (const kind of ["token", "session"] as const) {
        await this.statements(kind);
        expect(await this.statements(kind)).toBe(0);
      }
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

describe("identities in PostgreSQL", () => {
  test("find() queries the database once while nothing changes", async () => {
    await using caller = await aCachedCaller();
    expect(await caller.statements()).toBe(1);
    expect(await caller.statements()).toBe(0);
    expect(await caller.identities.find("token", caller.fingerprint)).toMatchObject({ userId: caller.userId });
    expect(await caller.statements("session")).toBe(1);
    expect(await caller.statements("session")).toBe(0);
  });

  test("find() queries again for what it did not find", async () => {
    await using caller = await aCachedCaller();
    await caller.tokens.revoke(caller, caller.token.id);
    expect(await caller.statements()).toBe(1);
    expect(await caller.statements()).toBe(1);
  });

  test("find() drops a credential when its row is changed by hand", async () => {
    await using caller = await aCachedCaller();
    const { hand, identities, signals, fingerprint, cookie, token, session, userId, organizationId } = caller;
    const changes: readonly [() => PromiseLike<unknown>, unknown, unknown][] = [
      [
        () => hand`update members set role = 'viewer' where user_id = ${userId}`,
        { memberships: [{ role: "viewer" }] },
        { memberships: [{ role: "viewer" }] },
      ],
      [
        () => hand`update tokens set narrowing = '{"permissions":[],"grants":[]}' where id = ${token.id}`,
        { narrowing: { permissions: [], grants: [] } },
        { narrowing: null },
      ],
      [
        () => hand`update sessions set expires_at = ${START} where id = ${session.id}`,
        { expiresAt: null },
        { expiresAt: START },
      ],
      [() => hand`delete from members where user_id = ${userId}`, { memberships: [] }, { memberships: [] }],
      [
        () => hand`
          insert into members (organization_id, user_id, role, created_at)
          values (${organizationId}, ${userId}, 'admin', now())`,
        { memberships: [{ role: "admin" }] },
        { memberships: [{ role: "admin" }] },
      ],
      [() => hand`update users set founder = false where founder`, {}, {}],
      [() => hand`update users set founder = true where id = ${userId}`, { founder: true }, { founder: true }],
    ];
    for (const [change, tokenShows, sessionShows] of changes) {
      await caller.remembered();
      await change();
      await signals.settled();
      expect(await identities.find("token", fingerprint)).toMatchObject(tokenShows as object);
      expect(await identities.find("session", cookie)).toMatchObject(sessionShows as object);
    }
    const ends = [
      () => hand`update tokens set revoked_at = now() where id = ${token.id}`,
      () => hand`delete from users where id = ${userId}`,
    ];
    await caller.remembered();
    for (const [index, end] of ends.entries()) {
      await end();
      await signals.settled();
      expect(await identities.find("token", fingerprint)).toBeUndefined();
      expect((await identities.find("session", cookie)) === undefined).toBe(index === 1);
    }
  });

  test("find() drops all identities when a table is emptied by hand", async () => {
    await using caller = await aCachedCaller();
    await caller.remembered();
    await caller.hand`truncate sessions`;
    await caller.signals.settled();
    expect(await caller.identities.find("session", caller.cookie)).toBeUndefined();
  });

  test("find() keeps its cache after used() and the changes of others", async () => {
    await using caller = await aCachedCaller();
    const other = await aToken(caller, caller);
    await caller.remembered();
    caller.identities.used({ kind: "token", id: caller.token.id }, minutes(3));
    caller.identities.used({ kind: "token", id: caller.token.id }, minutes(2));
    caller.identities.used({ kind: "session", id: caller.session.id }, minutes(4));
    const uses = () => caller.hand`
      select t.last_used_at as token, t.use_count as count, s.last_used_at as session
      from tokens t, sessions s where t.id = ${caller.token.id} and s.id = ${caller.session.id}`;
    const [written] = await eventually(uses, ([row]) => row?.token !== null);
    expect(written).toEqual({ token: minutes(3), count: "2", session: minutes(4) });
    await caller.tokens.revoke(caller, other.token.id);
    expect(await caller.statements("token")).toBe(0);
    expect(await caller.statements("session")).toBe(0);
  });

  test("what was used is written when the stores are closed", async () => {
    await using caller = await aCachedCaller();
    await using world = await openStores({ url: caller.url, vault: caller.vault, usesMs: 600_000 });
    world.identities.used({ kind: "token", id: caller.token.id }, minutes(5));
    await world[Symbol.asyncDispose]();
    const [row] = await caller.hand`select last_used_at from tokens where id = ${caller.token.id}`;
    expect(row?.last_used_at).toEqual(minutes(5));
  });

  test("a change through one process is seen by the next response of another", async () => {
    await using caller = await aCachedCaller();
    await using other = await openStores({ url: caller.url, vault: caller.vault });
    expect(await other.identities.find("token", caller.fingerprint)).toBeDefined();
    await caller.tokens.revoke(caller, caller.token.id);
    expect(await other.identities.find("token", caller.fingerprint)).toBeUndefined();
  });

  test("a change returns only after this process dropped the former state, under constant queries", async () => {
    await using caller = await aCachedCaller();
    const { identities, members, fingerprint, organizationId, userId } = caller;
    const asking = new AbortController();
    const questions = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!asking.signal.aborted) {
          await identities.find("token", fingerprint);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
    for (let round = 0; round < 50; round++) {
      const role = round % 2 ? "viewer" : "admin";
      await members.change(organizationId, userId, { role, grants: [] });
      expect((await identities.find("token", fingerprint))?.memberships[0]?.role).toBe(role);
    }
    asking.abort();
    await questions;
  });

  test("find() caches nothing while no change notifications arrive, and again once they do", async () => {
    await using caller = await aCachedCaller();
    await caller.remembered();
    const heard = () => caller.hand`select pid from pg_stat_activity
      where starts_with(application_name, 'slipway-listen ') and datname = current_database()`;
    const [before] = await heard();
    await caller.hand`select pg_terminate_backend(${before?.pid})`;
    await eventually(heard, ([row]) => row !== undefined && row.pid !== before?.pid);
    await caller.signals.whenLive();
    await caller.remembered();
    caller.signals.close();
    expect(caller.signals.live).toBe(false);
    expect(await caller.statements()).toBe(1);
    expect(await caller.statements()).toBe(1);
  });

  test("a connection that goes silent is noticed, and changes missed meanwhile are not answered from the cache", async () => {
    await using caller = await aCachedCaller({ beatMs: 1_500 });
    await using gates = new AsyncDisposableStack();
    const gate = gates.use(await tcpGate(Number(new URL(caller.url).port)));
    const url = Object.assign(new URL(caller.url), { port: `${gate.port}` }).href;
    const other = gates.use(await openStores({ url, vault: caller.vault, beatMs: 1_500, limitMs: 2_000 }));
    await other.identities.find("token", caller.fingerprint);
    let resets = 0;
    other.signals.onReset(() => resets++);
    gate.freeze();
    await caller.tokens.revoke(caller, caller.token.id);
    await eventually(
      async () => other.signals.live,
      (live) => !live,
    );
    expect(resets).toBeGreaterThan(0);
    resets = 0;
    await expect(other.identities.find("token", caller.fingerprint)).rejects.toMatchObject({ code: "database_away" });
    gate.thaw();
    await other.signals.whenLive();
    expect(resets).toBeGreaterThan(0);
    expect(await other.identities.find("token", caller.fingerprint)).toBeUndefined();
  });
});

/** Signals that a test sends by hand. */
class HandSignals {
  live = true;
  notify: (id: string) => void = () => {};
  reset: () => void = () => {};

  subscribe(_channel: string, handler: (id: string) => void) {
    this.notify = handler;
    return () => {};
  }

  onReset(handler: () => void) {
    this.reset = handler;
    return () => {};
  }
}

function identity(kind: "token" | "session", id: string, userId = "usr_1"): Identity {
  const rest = { founder: false, expiresAt: null, narrowing: null, boundTo: null, memberships: [] };
  return { userId, credential: { kind, id }, ...rest };
}

describe("IdentityCache", () => {
  test("get() returns what was cached, by kind and fingerprint", () => {
    const cache = new IdentityCache(new HandSignals());
    const known = identity("token", "tok_1");
    cache.beginRead()("f", known);
    expect(cache.get("token", "f")).toBe(known);
    expect(cache.get("session", "f")).toBeUndefined();
    expect(cache.get("token", "g")).toBeUndefined();
  });

  test.each(["tok_1", "usr_1", "*"])("get() returns nothing after a change of %s", (changed) => {
    const signals = new HandSignals();
    const cache = new IdentityCache(signals);
    cache.beginRead()("f", identity("token", "tok_1"));
    signals.notify(changed);
    expect(cache.get("token", "f")).toBeUndefined();
  });

  test.each(["tok_2", "usr_2"])("get() still returns others after a change of %s", (changed) => {
    const signals = new HandSignals();
    const cache = new IdentityCache(signals);
    cache.beginRead()("f", identity("token", "tok_1"));
    cache.beginRead()("g", identity("token", "tok_2", "usr_2"));
    signals.notify(changed);
    expect(cache.get("token", "f")).toBeDefined();
    expect(cache.get("token", "g")).toBeUndefined();
  });

  test("a read that raced with a change is not cached, whichever identity changed", () => {
    const signals = new HandSignals();
    const cache = new IdentityCache(signals);
    for (const change of [() => signals.notify("usr_1"), () => signals.notify("usr_9"), () => signals.reset()]) {
      const remember = cache.beginRead();
      change();
      remember("f", identity("token", "tok_1"));
      expect(cache.get("token", "f")).toBeUndefined();
    }
  });

  test("nothing is cached or returned while notifications may be missed", () => {
    const signals = new HandSignals();
    const cache = new IdentityCache(signals);
    cache.beginRead()("f", identity("token", "tok_1"));
    signals.live = false;
    expect(cache.get("token", "f")).toBeUndefined();
    cache.beginRead()("g", identity("token", "tok_2"));
    signals.reset();
    signals.live = true;
    expect(cache.get("token", "f")).toBeUndefined();
    expect(cache.get("token", "g")).toBeUndefined();
  });

  test("the least recently used entry is evicted when the cache is full", () => {
    const signals = new HandSignals();
    const cache = new IdentityCache(signals, 2);
    cache.beginRead()("a", identity("token", "tok_a"));
    cache.beginRead()("b", identity("token", "tok_b"));
    cache.get("token", "a");
    cache.beginRead()("c", identity("token", "tok_c"));
    expect(cache.get("token", "b")).toBeUndefined();
    expect(cache.get("token", "a")).toBeDefined();
    expect(cache.get("token", "c")).toBeDefined();
    signals.notify("usr_1");
    expect(cache.get("token", "a")).toBeUndefined();
    expect(cache.get("token", "c")).toBeUndefined();
  });
});

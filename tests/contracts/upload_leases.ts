import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { UploadSession } from "../../domain/projects/upload.ts";
import type { NewUploadSession } from "../../ports/projects/upload_sessions.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aSession as makeSession,
  RECEIVED,
  storedSession,
  timeless,
} from "../support/database/upload_session_builders.ts";
import type { WorldOf } from "./store_world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE_MS = 5 * MINUTE;

/** Contract tests for `UploadLeases` adapters. */
export function uploadLeasesContract(
  name: string,
  open: () => Promise<WorldOf<"elapse" | "uploadSessions" | "installation" | "now" | "organizations">>,
) {
  describe(`UploadLeases contract: ${name}`, () => {
    const world = sharedWorld(open);
    const aSession = (overrides: Partial<NewUploadSession> = {}, lifetimeMs?: number) =>
      makeSession(world(), overrides, lifetimeMs);
    const stored = (session: UploadSession) => storedSession(world(), session);

    test("begin() moves an open session to receiving", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
      expect(await stored(session)).toEqual({ ...session, state: "receiving" });
    });

    test("concurrent begin() calls for one session succeed once", async () => {
      const { id } = await aSession();
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => world().uploadSessions.begin(id, LEASE_MS)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("begin() refuses a session that is unknown, expired, being received or used", async () => {
      const { elapse, uploadSessions } = world();
      expect(await uploadSessions.begin(newId("upl"), LEASE_MS)).toBeUndefined();
      const expired = await aSession({}, MINUTE);
      await elapse(MINUTE);
      expect(await uploadSessions.begin(expired.id, LEASE_MS)).toBeUndefined();
      const receiving = await aSession();
      await uploadSessions.begin(receiving.id, LEASE_MS);
      expect(await uploadSessions.begin(receiving.id, LEASE_MS)).toBeUndefined();
      const used = await aSession({ state: "used" });
      expect(await uploadSessions.begin(used.id, LEASE_MS)).toBeUndefined();
      expect(timeless((await stored(expired))!)).toEqual(timeless(expired));
      expect(await stored(used)).toEqual(used);
    });

    test("begin() of a ready session discards its content, for one of several callers", async () => {
      const { uploadSessions } = world();
      const session = await aSession();
      const lease = await uploadSessions.begin(session.id, LEASE_MS);
      expect(await uploadSessions.complete(session.id, lease!, RECEIVED)).toBe(true);
      const again = await Promise.all([1, 2, 3].map(() => uploadSessions.begin(session.id, LEASE_MS)));
      expect(again.filter(Boolean)).toHaveLength(1);
      expect(timeless((await stored(session))!)).toEqual({ ...timeless(session), state: "receiving" });
      const next = { ...RECEIVED, sha256: "cd".repeat(32) };
      expect(await uploadSessions.complete(session.id, again.find(Boolean)!, next)).toBe(true);
      expect(await stored(session)).toMatchObject({ ...next, state: "ready" });
    });

    test("begin() takes over from a receiver whose lease expired, for one of several callers", async () => {
      const { elapse, uploadSessions } = world();
      const { id } = await aSession();
      await uploadSessions.begin(id, LEASE_MS);
      await elapse(LEASE_MS - 2 * MINUTE);
      expect(await uploadSessions.begin(id, LEASE_MS)).toBeUndefined();
      await elapse(2 * MINUTE);
      const outcomes = await Promise.all([1, 2, 3].map(() => uploadSessions.begin(id, LEASE_MS)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await uploadSessions.begin(id, LEASE_MS)).toBeUndefined();
    });

    test("renew() extends the lease", async () => {
      const { elapse, uploadSessions } = world();
      const { id } = await aSession();
      const lease = await uploadSessions.begin(id, LEASE_MS);
      await elapse(LEASE_MS - 2 * MINUTE);
      expect(await uploadSessions.renew(id, lease!, LEASE_MS)).toBe(true);
      await elapse(LEASE_MS - 2 * MINUTE);
      expect(await uploadSessions.begin(id, LEASE_MS)).toBeUndefined();
      await elapse(2 * MINUTE);
      expect(await uploadSessions.begin(id, LEASE_MS)).toBeString();
    });

    test("renew() does not start receiving", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.renew(session.id, "unknown", LEASE_MS)).toBe(false);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
    });

    test("complete() makes a session ready, to be used within another hour", async () => {
      const { elapse, now, uploadSessions } = world();
      const session = await aSession();
      await elapse(50 * MINUTE);
      const lease = await uploadSessions.begin(session.id, LEASE_MS);
      await elapse(20 * MINUTE);
      expect(await uploadSessions.complete(session.id, lease!, RECEIVED)).toBe(true);
      const ready = (await stored(session))!;
      expect(timeless(ready)).toEqual({ ...timeless(session), state: "ready", ...RECEIVED });
      expect(Math.abs(ready.expiresAt.getTime() - now().getTime() - HOUR)).toBeLessThan(2 * MINUTE);
    });

    test("complete() and giveUp() do not change a session that is not being received", async () => {
      const sessions = [await aSession(), await aSession({ state: "used" }), await aSession({ state: "ready" })];
      for (const session of sessions) {
        expect(await world().uploadSessions.complete(session.id, "unknown", RECEIVED)).toBe(false);
        await world().uploadSessions.giveUp(session.id, "unknown");
        expect(await stored(session)).toEqual(session);
      }
    });

    test("renew(), complete() and giveUp() do nothing for a receiver that was taken over", async () => {
      const { elapse, uploadSessions } = world();
      const session = await aSession();
      const former = await uploadSessions.begin(session.id, LEASE_MS);
      await elapse(LEASE_MS);
      const next = await uploadSessions.begin(session.id, LEASE_MS);
      expect(await uploadSessions.renew(session.id, former!, HOUR)).toBe(false);
      await uploadSessions.giveUp(session.id, former!);
      expect(await uploadSessions.complete(session.id, former!, RECEIVED)).toBe(false);
      expect(timeless((await stored(session))!)).toEqual({ ...timeless(session), state: "receiving" });
      await elapse(LEASE_MS);
      const third = await uploadSessions.begin(session.id, LEASE_MS);
      expect(third).toBeString();
      expect(new Set([former, next, third]).size).toBe(3);
    });

    test("giveUp() opens a session for the next attempt immediately", async () => {
      const session = await aSession();
      const lease = await world().uploadSessions.begin(session.id, LEASE_MS);
      await world().uploadSessions.giveUp(session.id, lease!);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
    });

    test("renew() and complete() report a session that was swept", async () => {
      const { elapse, uploadSessions } = world();
      const session = await aSession({}, 10 * MINUTE);
      const lease = await uploadSessions.begin(session.id, LEASE_MS);
      await elapse(20 * MINUTE);
      expect(await uploadSessions.sweep([])).toContain(session.id);
      expect(await uploadSessions.renew(session.id, lease!, LEASE_MS)).toBe(false);
      expect(await uploadSessions.complete(session.id, lease!, RECEIVED)).toBe(false);
      await uploadSessions.giveUp(session.id, lease!);
      expect(await stored(session)).toBeUndefined();
    });
  });
}

import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Session } from "../../ports/identity/sessions.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, minutes, START, uniqueFingerprint } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const LONG_AGO = new Date("1985-01-01T00:00:00.000Z");

/** Contract tests for `Sessions` adapters. */
export function sessionsContract(
  name: string,
  open: () => Promise<WorldOf<"sessions" | "identities" | "installation" | "invitations" | "organizations">>,
) {
  describe(`Sessions contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aUser(): Promise<string> {
      return aMember(world(), (await anOrganization(world())).id);
    }

    async function aSession(userId: string, expiresAt = minutes(60)): Promise<Session & { readonly cookie: string }> {
      const session = { id: newId("ses"), userId, createdAt: START, expiresAt };
      const cookie = await uniqueFingerprint();
      await world().sessions.create(session, cookie);
      return { ...session, cookie };
    }

    async function isOpen({ cookie }: { readonly cookie: string }): Promise<boolean> {
      return (await world().identities.find("session", cookie)) !== undefined;
    }

    test("create() opens a session for a user", async () => {
      const userId = await aUser();
      const session = await aSession(userId, minutes(30));
      expect(await world().identities.find("session", session.cookie)).toMatchObject({
        userId,
        credential: { kind: "session", id: session.id },
        expiresAt: minutes(30),
      });
    });

    test("end() ends one session immediately", async () => {
      const userId = await aUser();
      const [first, second] = [await aSession(userId), await aSession(userId)];
      expect(await isOpen(first)).toBe(true);
      await world().sessions.end(first.id);
      expect(await isOpen(first)).toBe(false);
      expect(await isOpen(second)).toBe(true);
    });

    test("end() ignores an unknown or ended session", async () => {
      const session = await aSession(await aUser());
      await world().sessions.end(session.id);
      expect(await world().sessions.end(session.id)).toBeUndefined();
      expect(await world().sessions.end(newId("ses"))).toBeUndefined();
    });

    test("endOthers() ends every session of a user except one", async () => {
      const [userId, other] = [await aUser(), await aUser()];
      const [kept, first, second] = [await aSession(userId), await aSession(userId), await aSession(userId)];
      const foreign = await aSession(other);
      for (const session of [kept, first, second, foreign]) expect(await isOpen(session)).toBe(true);
      await world().sessions.endOthers(userId, kept.id);
      expect(await Promise.all([kept, first, second, foreign].map(isOpen))).toEqual([true, false, false, true]);
    });

    test("endOthers() without one to keep ends all sessions", async () => {
      const userId = await aUser();
      const sessions = [await aSession(userId), await aSession(userId)];
      await world().sessions.endOthers(userId, null);
      expect(await Promise.all(sessions.map(isOpen))).toEqual([false, false]);
    });

    test("sweep() removes sessions that expired before a time, and counts them", async () => {
      await world().sessions.sweep(LONG_AGO);
      const userId = await aUser();
      const before = new Date(LONG_AGO.getTime() - 1);
      const expired = [await aSession(userId, before), await aSession(userId, before)];
      const later = await aSession(userId, new Date(LONG_AGO.getTime() + 1));
      expect(await world().sessions.sweep(LONG_AGO)).toBe(2);
      expect(await Promise.all(expired.map(isOpen))).toEqual([false, false]);
      expect(await isOpen(later)).toBe(true);
      expect(await world().sessions.sweep(LONG_AGO)).toBe(0);
    });
  });
}

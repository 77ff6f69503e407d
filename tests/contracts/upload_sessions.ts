import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { UploadQuota, UploadSession } from "../../domain/upload.ts";
import { oddTexts } from "../support/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, founderOf, minutes, START } from "../support/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const RECEIVED = { bytes: 3 * 2 ** 40, sha256: "ab".repeat(32), files: 200_000 };

const PLENTY = { perUser: 10_000, perOrganization: 10_000 };

/** Five minutes from some minute on. */
function term(minute: number) {
  return { at: minutes(minute), leaseMs: 5 * 60_000 };
}

/** A session that nobody stored yet. */
export function sessionOf(
  overrides: Partial<UploadSession> & Pick<UploadSession, "organizationId" | "userId">,
): UploadSession {
  return {
    id: newId("upl"),
    name: null,
    mode: "local",
    state: "open",
    bytes: null,
    sha256: null,
    files: null,
    createdAt: START,
    expiresAt: minutes(60),
    ...overrides,
  };
}

/** What every `UploadSessions` adapter promises. */
export function uploadSessionsContract(
  name: string,
  open: () => Promise<WorldOf<"uploadSessions" | "installation" | "invitations" | "organizations">>,
) {
  describe(`UploadSessions contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aSession(overrides: Partial<UploadSession> = {}): Promise<UploadSession> {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const session = sessionOf({ userId: (await founderOf(world())).id, ...overrides, organizationId });
      expect(await world().uploadSessions.create(session, PLENTY)).toBe("created");
      return session;
    }

    async function stored({ organizationId, id }: UploadSession): Promise<UploadSession | undefined> {
      return world().uploadSessions.find(organizationId, id);
    }

    /** A new person of an organization, and how it opens a session there. */
    async function somebody(organizationId: string) {
      const userId = await aMember(world(), organizationId);
      return (quota: UploadQuota, overrides: Partial<UploadSession> = {}) =>
        world().uploadSessions.create(sessionOf({ organizationId, userId, ...overrides }), quota);
    }

    test("create() refuses a person's session beyond the quota, whichever state the others are in", async () => {
      const { id } = await anOrganization(world());
      const [make, other] = [await somebody(id), await somebody(id)];
      const quota = { perUser: 3, perOrganization: 100 };
      for (const state of ["open", "receiving", "ready"] as const) expect(await make(quota, { state })).toBe("created");
      expect(await make(quota)).toBe("user_full");
      expect(await make({ ...quota, perUser: 4 })).toBe("created");
      expect(await other(quota)).toBe("created");
    });

    test("create() refuses an organization's session beyond the quota", async () => {
      const [{ id }, elsewhere] = [await anOrganization(world()), await anOrganization(world())];
      const quota = { perUser: 100, perOrganization: 2 };
      const people = [await somebody(id), await somebody(id), await somebody(id)];
      const outcomes = [];
      for (const make of people) outcomes.push(await make(quota));
      expect(outcomes).toEqual(["created", "created", "organization_full"]);
      expect(await (await somebody(elsewhere.id))(quota)).toBe("created");
    });

    test("create() counts neither used nor expired sessions", async () => {
      const make = await somebody((await anOrganization(world())).id);
      const quota = { perUser: 1, perOrganization: 1 };
      expect(await make(quota, { state: "used" })).toBe("created");
      expect(await make(quota, { expiresAt: START })).toBe("created");
      expect(await make(quota)).toBe("created");
      expect(await make(quota)).toBe("user_full");
    });

    test("create() by several at once keeps to the quota, and gives it away whole", async () => {
      const make = await somebody((await anOrganization(world())).id);
      const quota = { perUser: 4, perOrganization: 100 };
      const outcomes = await Promise.all(Array.from({ length: 9 }, () => make(quota)));
      expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(4);
    });

    test.each([null, ...oddTexts])("find() gives back a session named %j", async (text) => {
      const session = await aSession({ name: text, mode: "cloud" });
      expect(await stored(session)).toEqual(session);
    });

    test("find() knows nothing of another organization's or an unknown session", async () => {
      const session = await aSession();
      const other = await anOrganization(world());
      expect(await world().uploadSessions.find(other.id, session.id)).toBeUndefined();
      expect(await world().uploadSessions.find(session.organizationId, newId("upl"))).toBeUndefined();
    });

    test("begin() moves an open session to receiving", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.begin(session.id, term(1))).toBeString();
      expect(await stored(session)).toEqual({ ...session, state: "receiving" });
    });

    test("begin() of one session by several at once succeeds once", async () => {
      const { id } = await aSession();
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => world().uploadSessions.begin(id, term(1))));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("begin() refuses a session that is unknown, expired, being received, ready or used", async () => {
      const { uploadSessions } = world();
      expect(await uploadSessions.begin(newId("upl"), term(1))).toBeUndefined();
      const expired = await aSession({ expiresAt: minutes(1) });
      expect(await uploadSessions.begin(expired.id, term(2))).toBeUndefined();
      const receiving = await aSession();
      const lease = await uploadSessions.begin(receiving.id, term(1));
      expect(await uploadSessions.begin(receiving.id, term(5))).toBeUndefined();
      expect(await uploadSessions.complete(receiving.id, lease!, RECEIVED, minutes(2))).toBe(true);
      expect(await uploadSessions.begin(receiving.id, term(30))).toBeUndefined();
      const used = await aSession({ state: "used" });
      expect(await uploadSessions.begin(used.id, term(1))).toBeUndefined();
      expect(await stored(expired)).toEqual(expired);
      expect(await stored(used)).toEqual(used);
    });

    test("begin() takes over from a receiver whose lease ran out, for one of several", async () => {
      const session = await aSession();
      await world().uploadSessions.begin(session.id, term(0));
      expect(await world().uploadSessions.begin(session.id, term(4))).toBeUndefined();
      const outcomes = await Promise.all([1, 2, 3].map(() => world().uploadSessions.begin(session.id, term(6))));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().uploadSessions.begin(session.id, term(10))).toBeUndefined();
    });

    test("renew() holds the lease longer", async () => {
      const { id } = await aSession();
      const lease = await world().uploadSessions.begin(id, term(0));
      expect(await world().uploadSessions.renew(id, lease!, term(4))).toBe(true);
      expect(await world().uploadSessions.begin(id, term(8))).toBeUndefined();
      expect(await world().uploadSessions.begin(id, term(10))).toBeString();
    });

    test("renew() does not begin anything", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.renew(session.id, "unknown", term(0))).toBe(false);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, term(1))).toBeString();
    });

    test("complete() makes a session ready, with another hour to be used", async () => {
      const session = await aSession();
      const lease = await world().uploadSessions.begin(session.id, term(59));
      expect(await world().uploadSessions.complete(session.id, lease!, RECEIVED, minutes(70))).toBe(true);
      expect(await stored(session)).toEqual({
        ...session,
        state: "ready",
        ...RECEIVED,
        expiresAt: minutes(130),
      });
    });

    test("complete() and giveUp() leave a session alone that is not being received", async () => {
      const sessions = [await aSession(), await aSession({ state: "used" }), await aSession({ state: "ready" })];
      for (const session of sessions) {
        expect(await world().uploadSessions.complete(session.id, "unknown", RECEIVED, minutes(1))).toBe(false);
        await world().uploadSessions.giveUp(session.id, "unknown");
        expect(await stored(session)).toEqual(session);
      }
    });

    test("renew(), complete() and giveUp() do nothing for a receiver that another has taken over from", async () => {
      const session = await aSession();
      const { uploadSessions } = world();
      const former = await uploadSessions.begin(session.id, term(0));
      const next = await uploadSessions.begin(session.id, term(6));
      expect(await uploadSessions.renew(session.id, former!, term(30))).toBe(false);
      await uploadSessions.giveUp(session.id, former!);
      expect(await uploadSessions.complete(session.id, former!, RECEIVED, minutes(7))).toBe(false);
      expect(await stored(session)).toEqual({ ...session, state: "receiving" });
      const third = await uploadSessions.begin(session.id, term(12));
      expect(third).toBeString();
      expect(new Set([former, next, third]).size).toBe(3);
    });

    test("giveUp() opens a session for the next try at once", async () => {
      const session = await aSession();
      const lease = await world().uploadSessions.begin(session.id, term(1));
      await world().uploadSessions.giveUp(session.id, lease!);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, term(1))).toBeString();
    });

    test("sweep() removes expired sessions that are neither used nor being received, and tells which", async () => {
      const { uploadSessions } = world();
      const longAgo = new Date("1985-01-01T00:00:00.000Z");
      const at = (minute: number) => new Date(longAgo.getTime() + minute * 60_000);
      await uploadSessions.sweep(longAgo, []);
      const waiting = await aSession({ expiresAt: at(-1) });
      const ready = await aSession({ state: "ready", expiresAt: at(-1) });
      const later = await aSession({ expiresAt: at(1) });
      const used = await aSession({ state: "used", expiresAt: at(-1) });
      const receiving = await aSession({ expiresAt: at(-1) });
      expect(await uploadSessions.begin(receiving.id, { at: at(-2), leaseMs: 5 * 60_000 })).toBeString();
      const abandoned = await aSession({ expiresAt: at(-1) });
      expect(await uploadSessions.begin(abandoned.id, { at: at(-10), leaseMs: 5 * 60_000 })).toBeString();
      const swept = await uploadSessions.sweep(longAgo, []);
      expect(swept.toSorted()).toEqual([waiting.id, ready.id, abandoned.id].toSorted());
      for (const session of [waiting, ready, abandoned]) expect(await stored(session)).toBeUndefined();
      expect(await stored(later)).toEqual(later);
      expect(await stored(used)).toEqual(used);
      expect(await stored(receiving)).toEqual({ ...receiving, state: "receiving" });
      expect(await uploadSessions.sweep(longAgo, [])).toEqual([]);
    });

    test("renew() and complete() of a session that was swept meanwhile tell so", async () => {
      const { uploadSessions } = world();
      const longAgo = new Date("1983-01-01T00:00:00.000Z");
      const session = await aSession({ expiresAt: new Date(longAgo.getTime() - 1) });
      const lease = await uploadSessions.begin(session.id, {
        at: new Date(longAgo.getTime() - 60_000),
        leaseMs: 1_000,
      });
      expect(await uploadSessions.sweep(longAgo, [])).toEqual([session.id]);
      expect(await uploadSessions.renew(session.id, lease!, term(0))).toBe(false);
      expect(await uploadSessions.complete(session.id, lease!, RECEIVED, minutes(1))).toBe(false);
      await uploadSessions.giveUp(session.id, lease!);
      expect(await stored(session)).toBeUndefined();
    });

    test("sweep() tells which of the stored ids no session has, and which no deployment will be built from", async () => {
      const { uploadSessions } = world();
      const longAgo = new Date("1984-01-01T00:00:00.000Z");
      const kept: string[] = [];
      for (const state of ["open", "receiving", "ready"] as const) kept.push((await aSession({ state })).id);
      const { id: used } = await aSession({ state: "used" });
      const { id: expired } = await aSession({ state: "ready", expiresAt: new Date(longAgo.getTime() - 1) });
      const [orphan, odd] = [newId("upl"), "x' or 1=1"];
      const swept = await uploadSessions.sweep(longAgo, [...kept, used, expired, orphan, odd]);
      expect(swept.toSorted()).toEqual([used, expired, orphan, odd].toSorted());
      expect((await uploadSessions.sweep(longAgo, [...kept, orphan])).toSorted()).toEqual([orphan]);
    });
  });
}

import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { UploadQuota, UploadSession } from "../../domain/upload.ts";
import type { NewUploadSession } from "../../ports/upload_sessions.ts";
import { oddTexts } from "../support/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, founderOf } from "../support/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const RECEIVED = { bytes: 3 * 2 ** 40, sha256: "ab".repeat(32), files: 200_000 };

const PLENTY = { perUser: 10_000, perOrganization: 10_000 };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE_MS = 5 * MINUTE;

/** A session that nobody stored yet. */
export function sessionOf(
  overrides: Partial<NewUploadSession> & Pick<NewUploadSession, "organizationId" | "userId">,
): NewUploadSession {
  return {
    id: newId("upl"),
    name: null,
    mode: "local",
    state: "open",
    bytes: null,
    sha256: null,
    files: null,
    ...overrides,
  };
}

/** A session without its times: those that are stored age with the clock of the store. */
function timeless(session: UploadSession) {
  return { ...session, createdAt: null, expiresAt: null };
}

/** What every `UploadSessions` adapter promises. */
export function uploadSessionsContract(
  name: string,
  open: () => Promise<WorldOf<"elapse" | "uploadSessions" | "installation" | "invitations" | "now" | "organizations">>,
) {
  describe(`UploadSessions contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aSession(overrides: Partial<NewUploadSession> = {}, lifetimeMs = HOUR): Promise<UploadSession> {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const session = sessionOf({ userId: (await founderOf(world())).id, ...overrides, organizationId });
      const creation = await world().uploadSessions.create(session, { lifetimeMs, quota: PLENTY });
      if (creation.outcome !== "created") throw new Error(`Cannot set the test up: ${creation.outcome}`);
      expect(creation.session).toMatchObject(session);
      return creation.session;
    }

    async function stored({ organizationId, id }: UploadSession): Promise<UploadSession | undefined> {
      const found = await world().uploadSessions.find(organizationId, id);
      if (!found) return undefined;
      const { expired: _, ...session } = found;
      return session;
    }

    /** A new person of an organization, and how it opens a session there. */
    async function somebody(organizationId: string) {
      const userId = await aMember(world(), organizationId);
      return async (quota: UploadQuota, overrides: Partial<NewUploadSession> = {}) => {
        const session = sessionOf({ organizationId, userId, ...overrides });
        return (await world().uploadSessions.create(session, { lifetimeMs: HOUR, quota })).outcome;
      };
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
      expect(await make(quota)).toBe("created");
      expect(await make(quota)).toBe("user_full");
      await world().elapse(HOUR);
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

    test("create() keeps a session for as long as is said, from now on, and find() tells once it has expired", async () => {
      const session = await aSession({}, 10 * MINUTE);
      expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(10 * MINUTE);
      expect(Math.abs(session.createdAt.getTime() - world().now().getTime())).toBeLessThan(2 * MINUTE);
      const expired = async () => (await world().uploadSessions.find(session.organizationId, session.id))?.expired;
      await world().elapse(5 * MINUTE);
      expect(await expired()).toBe(false);
      await world().elapse(5 * MINUTE);
      expect(await expired()).toBe(true);
    });

    test("find() knows nothing of another organization's or an unknown session", async () => {
      const session = await aSession();
      const other = await anOrganization(world());
      expect(await world().uploadSessions.find(other.id, session.id)).toBeUndefined();
      expect(await world().uploadSessions.find(session.organizationId, newId("upl"))).toBeUndefined();
    });

    test("begin() moves an open session to receiving", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
      expect(await stored(session)).toEqual({ ...session, state: "receiving" });
    });

    test("begin() of one session by several at once succeeds once", async () => {
      const { id } = await aSession();
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => world().uploadSessions.begin(id, LEASE_MS)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("begin() refuses a session that is unknown, expired, being received, ready or used", async () => {
      const { elapse, uploadSessions } = world();
      expect(await uploadSessions.begin(newId("upl"), LEASE_MS)).toBeUndefined();
      const expired = await aSession({}, MINUTE);
      await elapse(MINUTE);
      expect(await uploadSessions.begin(expired.id, LEASE_MS)).toBeUndefined();
      const receiving = await aSession();
      const lease = await uploadSessions.begin(receiving.id, LEASE_MS);
      expect(await uploadSessions.begin(receiving.id, LEASE_MS)).toBeUndefined();
      expect(await uploadSessions.complete(receiving.id, lease!, RECEIVED)).toBe(true);
      await elapse(2 * LEASE_MS);
      expect(await uploadSessions.begin(receiving.id, LEASE_MS)).toBeUndefined();
      const used = await aSession({ state: "used" });
      expect(await uploadSessions.begin(used.id, LEASE_MS)).toBeUndefined();
      expect(timeless((await stored(expired))!)).toEqual(timeless(expired));
      expect(await stored(used)).toEqual(used);
    });

    test("begin() takes over from a receiver whose lease ran out, for one of several", async () => {
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

    test("renew() holds the lease longer", async () => {
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

    test("renew() does not begin anything", async () => {
      const session = await aSession();
      expect(await world().uploadSessions.renew(session.id, "unknown", LEASE_MS)).toBe(false);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
    });

    test("complete() makes a session ready, with another hour to be used", async () => {
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

    test("complete() and giveUp() leave a session alone that is not being received", async () => {
      const sessions = [await aSession(), await aSession({ state: "used" }), await aSession({ state: "ready" })];
      for (const session of sessions) {
        expect(await world().uploadSessions.complete(session.id, "unknown", RECEIVED)).toBe(false);
        await world().uploadSessions.giveUp(session.id, "unknown");
        expect(await stored(session)).toEqual(session);
      }
    });

    test("renew(), complete() and giveUp() do nothing for a receiver that another has taken over from", async () => {
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

    test("giveUp() opens a session for the next try at once", async () => {
      const session = await aSession();
      const lease = await world().uploadSessions.begin(session.id, LEASE_MS);
      await world().uploadSessions.giveUp(session.id, lease!);
      expect(await stored(session)).toEqual(session);
      expect(await world().uploadSessions.begin(session.id, LEASE_MS)).toBeString();
    });

    test("sweep() removes expired sessions that are neither used nor being received, and tells which", async () => {
      const { elapse, uploadSessions } = world();
      await elapse(3 * HOUR);
      await uploadSessions.sweep([]);
      const waiting = await aSession({}, 10 * MINUTE);
      const ready = await aSession({ state: "ready" }, 10 * MINUTE);
      const later = await aSession();
      const used = await aSession({ state: "used" }, 10 * MINUTE);
      const [receiving, abandoned] = [await aSession({}, 10 * MINUTE), await aSession({}, 10 * MINUTE)];
      expect(await uploadSessions.begin(receiving.id, HOUR)).toBeString();
      expect(await uploadSessions.begin(abandoned.id, LEASE_MS)).toBeString();
      expect(await uploadSessions.sweep([])).toEqual([]);
      await elapse(20 * MINUTE);
      const swept = await uploadSessions.sweep([]);
      expect(swept.toSorted()).toEqual([waiting.id, ready.id, abandoned.id].toSorted());
      for (const session of [waiting, ready, abandoned]) expect(await stored(session)).toBeUndefined();
      expect(timeless((await stored(later))!)).toEqual(timeless(later));
      expect(timeless((await stored(used))!)).toEqual(timeless(used));
      expect(timeless((await stored(receiving))!)).toEqual({ ...timeless(receiving), state: "receiving" });
      expect(await uploadSessions.sweep([])).toEqual([]);
    });

    test("renew() and complete() of a session that was swept meanwhile tell so", async () => {
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

    test("sweep() tells which of the stored ids no session has, and which no deployment will be built from", async () => {
      const { elapse, uploadSessions } = world();
      const { id: expired } = await aSession({ state: "ready" }, 10 * MINUTE);
      await elapse(20 * MINUTE);
      const kept: string[] = [];
      for (const state of ["open", "receiving", "ready"] as const) kept.push((await aSession({ state })).id);
      const { id: used } = await aSession({ state: "used" });
      const [orphan, odd] = [newId("upl"), "x' or 1=1"];
      const gone = [used, expired, orphan, odd];
      const own = (ids: readonly string[]) => ids.filter((id) => [...kept, ...gone].includes(id)).toSorted();
      expect(own(await uploadSessions.sweep([...kept, ...gone]))).toEqual(gone.toSorted());
      expect(own(await uploadSessions.sweep([...kept, orphan]))).toEqual([orphan]);
    });
  });
}

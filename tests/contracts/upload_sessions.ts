import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { UploadQuota, UploadSession } from "../../domain/projects/upload.ts";
import type { NewUploadSession, UploadCreation } from "../../ports/projects/upload_sessions.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization } from "../support/database/store_builders.ts";
import {
  aSession as makeSession,
  PLENTY,
  sessionOf,
  storedSession,
  timeless,
} from "../support/database/upload_session_builders.ts";
import type { WorldOf } from "./store_world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE_MS = 5 * MINUTE;
const ALL = { page: 1, perPage: 100 };

/** Contract tests for `UploadSessions` adapters. */
export function uploadSessionsContract(
  name: string,
  open: () => Promise<WorldOf<"elapse" | "uploadSessions" | "installation" | "invitations" | "now" | "organizations">>,
) {
  describe(`UploadSessions contract: ${name}`, () => {
    const world = sharedWorld(open);

    const aSession = (overrides: Partial<NewUploadSession> = {}, lifetimeMs?: number) =>
      makeSession(world(), overrides, lifetimeMs);
    const stored = (session: UploadSession) => storedSession(world(), session);

    /**
     * A new member of an organization, and functions to open sessions as that member. The store's clock advances each
     * time.
     */
    async function anUploader(organizationId: string) {
      const userId = await aMember(world(), organizationId);
      const tryToOpen = async (quota: UploadQuota, overrides: Partial<NewUploadSession> = {}) => {
        await world().elapse(1);
        const session = sessionOf({ organizationId, userId, ...overrides });
        return { id: session.id, ...(await world().uploadSessions.create(session, { lifetimeMs: HOUR, quota })) };
      };
      return {
        userId,
        tryToOpen,
        opened: async (quota: UploadQuota, overrides: Partial<NewUploadSession> = {}) =>
          creation(await tryToOpen(quota, overrides)),
        waiting: async (of = organizationId) =>
          (await world().uploadSessions.list(of, userId, ALL)).items.map(({ id }) => id),
      };
    }

    test("create() beyond the quota displaces the oldest session of the user, in any state", async () => {
      const { id } = await anOrganization(world());
      const [one, other] = [await anUploader(id), await anUploader(id)];
      const quota = { perUser: 3, perOrganization: 100 };
      const theirs = await other.opened(quota);
      const made: string[] = [];
      for (const state of ["open", "receiving", "ready"] as const) made.push((await one.opened(quota, { state })).id);
      for (const oldest of made.slice()) {
        const { id: next, displaced } = await one.opened(quota);
        expect(displaced).toEqual([oldest]);
        expect(await world().uploadSessions.find(id, oldest)).toBeUndefined();
        made.push(next);
      }
      expect(await one.waiting()).toEqual(made.slice(3).toReversed());
      expect(await other.waiting()).toEqual([theirs.id]);
      expect((await one.opened({ ...quota, perUser: 4 })).displaced).toEqual([]);
      expect((await one.opened({ ...quota, perUser: 2 })).displaced).toEqual(made.slice(3, 6));
    });

    test("create() displaces no session that is being received, and refuses when there is no other", async () => {
      const { elapse, uploadSessions } = world();
      const { tryToOpen, opened, waiting } = await anUploader((await anOrganization(world())).id);
      const quota = { perUser: 2, perOrganization: 100 };
      const [first, second] = [await opened(quota), await opened(quota)];
      expect(await uploadSessions.begin(first.id, LEASE_MS)).toBeString();
      const third = await opened(quota);
      expect(third.displaced).toEqual([second.id]);
      expect(await uploadSessions.begin(third.id, 2 * LEASE_MS)).toBeString();
      expect((await tryToOpen(quota)).outcome).toBe("user_full");
      expect(await waiting()).toEqual([third.id, first.id]);
      await elapse(LEASE_MS);
      expect((await opened(quota)).displaced).toEqual([first.id]);
    });

    test("create() displaces only sessions of the same user for the quota of an organization", async () => {
      const [{ id }, elsewhere] = [await anOrganization(world()), await anOrganization(world())];
      const quota = { perUser: 100, perOrganization: 2 };
      const [one, other, third] = [await anUploader(id), await anUploader(id), await anUploader(id)];
      const [first, second] = [await one.opened(quota), await other.opened(quota)];
      expect((await third.tryToOpen(quota)).outcome).toBe("organization_full");
      expect((await other.opened(quota)).displaced).toEqual([second.id]);
      expect(await one.waiting()).toEqual([first.id]);
      const inAnother = { organizationId: elsewhere.id };
      expect((await third.opened(quota, inAnother)).displaced).toEqual([]);
      expect((await third.tryToOpen({ ...quota, perUser: 1 })).outcome).toBe("organization_full");
      expect(await third.waiting(elsewhere.id)).toHaveLength(1);
    });

    test("create() displaces a session of the same organization before an older one of another", async () => {
      const [{ id }, elsewhere] = [await anOrganization(world()), await anOrganization(world())];
      const { opened } = await anUploader(id);
      const quota = { perUser: 2, perOrganization: 2 };
      const there = await opened(quota, { organizationId: elsewhere.id });
      const here = await opened(quota);
      const next = await opened(quota);
      expect(next.displaced).toEqual([here.id]);
      await opened({ perUser: 3, perOrganization: 2 }, { organizationId: elsewhere.id });
      const again = await opened({ perUser: 1, perOrganization: 2 });
      expect(again.displaced.slice(0, 2)).toEqual([next.id, there.id]);
    });

    test("create() counts neither used nor expired sessions", async () => {
      const { opened } = await anUploader((await anOrganization(world())).id);
      const quota = { perUser: 1, perOrganization: 1 };
      await opened(quota, { state: "used" });
      const { id, displaced } = await opened(quota);
      expect(displaced).toEqual([]);
      expect((await opened(quota)).displaced).toEqual([id]);
      await world().elapse(HOUR);
      expect((await opened(quota)).displaced).toEqual([]);
    });

    test("concurrent create() calls keep to the quota: each displaces another session", async () => {
      const { opened, waiting } = await anUploader((await anOrganization(world())).id);
      const quota = { perUser: 4, perOrganization: 100 };
      const made = await Promise.all(Array.from({ length: 9 }, () => opened(quota)));
      const displaced = made.flatMap((one) => one.displaced);
      expect(new Set(displaced).size).toBe(5);
      expect((await waiting()).toSorted()).toEqual(
        made
          .map(({ id }) => id)
          .filter((id) => !displaced.includes(id))
          .toSorted(),
      );
    });

    test("list() pages through the unexpired, unused sessions of a user, newest first", async () => {
      const [{ id }, elsewhere] = [await anOrganization(world()), await anOrganization(world())];
      const [one, other] = [await anUploader(id), await anUploader(id)];
      await aSession({ organizationId: id, userId: one.userId }, MINUTE);
      await world().elapse(MINUTE);
      const made: string[] = [];
      for (const state of ["open", "receiving", "ready"] as const) made.push((await one.opened(PLENTY, { state })).id);
      await one.opened(PLENTY, { state: "used" });
      await one.opened(PLENTY, { organizationId: elsewhere.id });
      await other.opened(PLENTY);
      expect(await one.waiting()).toEqual(made.toReversed());
      const second = await world().uploadSessions.list(id, one.userId, { page: 2, perPage: 2 });
      expect([second.total, second.items.map((item) => item.id)]).toEqual([3, [made[0]!]]);
      expect(second.items[0]).toEqual((await storedSession(world(), second.items[0]!))!);
    });

    test("remove() removes an unused session of the user, even while it is being received", async () => {
      const { uploadSessions } = world();
      const session = await aSession();
      const { organizationId, userId, id } = session;
      const other = await anUploader(organizationId);
      const lease = await uploadSessions.begin(id, LEASE_MS);
      expect(await uploadSessions.remove(organizationId, other.userId, id)).toBe(false);
      expect(await uploadSessions.remove((await anOrganization(world())).id, userId, id)).toBe(false);
      expect(await uploadSessions.remove(organizationId, userId, id)).toBe(true);
      expect(await uploadSessions.remove(organizationId, userId, id)).toBe(false);
      expect(await stored(session)).toBeUndefined();
      expect(await uploadSessions.renew(id, lease!, LEASE_MS)).toBe(false);
      const used = await aSession({ state: "used" });
      expect(await uploadSessions.remove(used.organizationId, used.userId, used.id)).toBe(false);
      expect(await stored(used)).toEqual(used);
    });

    test.each([null, ...oddTexts])("find() returns a session named %j", async (text) => {
      const session = await aSession({ name: text, mode: "cloud" });
      expect(await stored(session)).toEqual(session);
    });

    test("create() keeps a session for the given time from now, and find() reports when it has expired", async () => {
      const session = await aSession({}, 10 * MINUTE);
      expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(10 * MINUTE);
      expect(Math.abs(session.createdAt.getTime() - world().now().getTime())).toBeLessThan(2 * MINUTE);
      const expired = async () => (await world().uploadSessions.find(session.organizationId, session.id))?.expired;
      await world().elapse(5 * MINUTE);
      expect(await expired()).toBe(false);
      await world().elapse(5 * MINUTE);
      expect(await expired()).toBe(true);
    });

    test("find() finds nothing for an unknown session or one of another organization", async () => {
      const session = await aSession();
      const other = await anOrganization(world());
      expect(await world().uploadSessions.find(other.id, session.id)).toBeUndefined();
      expect(await world().uploadSessions.find(session.organizationId, newId("upl"))).toBeUndefined();
    });

    test("sweep() removes expired sessions that are neither used nor being received, and returns them", async () => {
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

    test("sweep() returns the stored ids that have no session, or that no deployment will be built from", async () => {
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

function creation({ id, ...made }: UploadCreation & { readonly id: string }) {
  if (made.outcome !== "created") throw new Error(`Cannot open a session: ${made.outcome}`);
  return { id, displaced: made.displaced };
}

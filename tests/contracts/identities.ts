import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Grant } from "../../domain/identity/permission.ts";
import { eventually } from "../support/eventually.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aMember,
  anOrganization,
  aToken,
  founderOf,
  joins,
  minutes,
  START,
  uniqueFingerprint,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `Identities` adapters. */
export function identitiesContract(
  name: string,
  open: () => Promise<
    WorldOf<
      "elsewhere" | "identities" | "installation" | "invitations" | "members" | "organizations" | "sessions" | "tokens"
    >
  >,
) {
  describe(`Identities contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aSession(userId: string, expiresAt = minutes(60)) {
      const session = { id: newId("ses"), userId, createdAt: START, expiresAt };
      const cookie = await uniqueFingerprint();
      await world().sessions.create(session, cookie);
      return { session, cookie };
    }

    /** Waits until another process knows a credential, or no longer knows it. */
    async function elsewhere(kind: "token" | "session", fingerprint: string, isKnown: boolean): Promise<boolean> {
      const ask = () => world().elsewhere.identities.find(kind, fingerprint);
      return (await eventually(ask, (identity) => (identity !== undefined) === isKnown)) !== undefined;
    }

    test("find() returns the identity of a token", async () => {
      const { id: organizationId } = await anOrganization(world());
      const grants: Grant[] = [{ resource: "server", id: "*", action: "list" }];
      const userId = await aMember(world(), organizationId, { role: "developer", grants });
      const narrowing = { permissions: ["project:read"], grants } as const;
      const { token, fingerprint } = await aToken(world(), {
        organizationId,
        userId,
        narrowing,
        expiresAt: minutes(5),
      });
      expect(await world().identities.find("token", fingerprint)).toEqual({
        userId,
        founder: false,
        credential: { kind: "token", id: token.id },
        expiresAt: minutes(5),
        narrowing,
        boundTo: organizationId,
        memberships: [{ organizationId, role: "developer", grants }],
      });
    });

    test("find() returns the identity of a session, memberships in order of joining", async () => {
      const places = [await anOrganization(world()), await anOrganization(world()), await anOrganization(world())];
      const [first, second, third] = places.map(({ id }) => id) as [string, string, string];
      const userId = await aMember(world(), second, { role: "viewer", at: minutes(20) });
      await joins(world(), userId, { organizationId: third, role: "admin", at: minutes(30) });
      await joins(world(), userId, { organizationId: first, role: "developer", at: minutes(10) });
      const { session, cookie } = await aSession(userId);
      expect(await world().identities.find("session", cookie)).toEqual({
        userId,
        founder: false,
        credential: { kind: "session", id: session.id },
        expiresAt: minutes(60),
        narrowing: null,
        boundTo: null,
        memberships: [
          { organizationId: first, role: "developer", grants: [] },
          { organizationId: second, role: "viewer", grants: [] },
          { organizationId: third, role: "admin", grants: [] },
        ],
      });
    });

    test("find() identifies the first owner", async () => {
      const founder = await founderOf(world());
      const { cookie } = await aSession(founder.id);
      expect(await world().identities.find("session", cookie)).toMatchObject({ userId: founder.id, founder: true });
    });

    test("find() finds nothing for an unknown fingerprint or one of the other kind", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const { fingerprint } = await aToken(world(), { organizationId, userId });
      const { cookie } = await aSession(userId);
      expect(await world().identities.find("token", await uniqueFingerprint())).toBeUndefined();
      expect(await world().identities.find("session", fingerprint)).toBeUndefined();
      expect(await world().identities.find("token", cookie)).toBeUndefined();
    });

    test("find() finds a credential that did not exist at the first lookup", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const cookie = await uniqueFingerprint();
      expect(await world().identities.find("session", cookie)).toBeUndefined();
      await world().sessions.create({ id: newId("ses"), userId, createdAt: START, expiresAt: minutes(9) }, cookie);
      expect(await world().identities.find("session", cookie)).toMatchObject({ userId });
    });

    test("find() leaves expiry to the caller", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const past = new Date("2001-01-01T00:00:00.000Z");
      const { fingerprint } = await aToken(world(), { organizationId, userId, expiresAt: past });
      const { cookie } = await aSession(userId, past);
      expect(await world().identities.find("token", fingerprint)).toMatchObject({ expiresAt: past });
      expect(await world().identities.find("session", cookie)).toMatchObject({ expiresAt: past });
    });

    test("find() returns a change of role and grants on the next call", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId, { role: "admin" });
      const { fingerprint } = await aToken(world(), { organizationId, userId });
      const { cookie } = await aSession(userId);
      const grants: Grant[] = [{ resource: "project", id: newId("prj"), action: "read" }];
      await world().identities.find("token", fingerprint);
      await world().identities.find("session", cookie);
      await world().members.change(organizationId, userId, { role: "restricted", grants });
      const memberships = [{ organizationId, role: "restricted", grants }];
      expect(await world().identities.find("token", fingerprint)).toMatchObject({ memberships });
      expect(await world().identities.find("session", cookie)).toMatchObject({ memberships });
      const seen = await eventually(
        () => world().elsewhere.identities.find("session", cookie),
        (identity) => identity?.memberships[0]?.role === "restricted",
      );
      expect(seen).toMatchObject({ memberships });
    });

    test("find() returns a new membership and a lost one on the next call", async () => {
      const [first, second] = [await anOrganization(world()), await anOrganization(world())];
      const userId = await aMember(world(), first.id, { at: minutes(1) });
      const { cookie } = await aSession(userId);
      const joined = async () =>
        (await world().identities.find("session", cookie))?.memberships.map(({ organizationId }) => organizationId);
      expect(await joined()).toEqual([first.id]);
      await joins(world(), userId, { organizationId: second.id, at: minutes(2) });
      expect(await joined()).toEqual([first.id, second.id]);
      await world().members.remove(first.id, userId);
      expect(await joined()).toEqual([second.id]);
    });

    test("find() stops finding a revoked token, here immediately and elsewhere soon", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const { token, fingerprint } = await aToken(world(), { organizationId, userId });
      expect(await world().identities.find("token", fingerprint)).toBeDefined();
      expect(await elsewhere("token", fingerprint, true)).toBe(true);
      await world().tokens.revoke({ organizationId, userId }, token.id);
      expect(await world().identities.find("token", fingerprint)).toBeUndefined();
      expect(await elsewhere("token", fingerprint, false)).toBe(false);
    });

    test("find() stops finding ended sessions, here immediately and elsewhere soon", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const [first, second] = [await aSession(userId), await aSession(userId)];
      for (const { cookie } of [first, second]) {
        expect(await world().identities.find("session", cookie)).toBeDefined();
        expect(await elsewhere("session", cookie, true)).toBe(true);
      }
      await world().sessions.end(first.session.id);
      expect(await world().identities.find("session", first.cookie)).toBeUndefined();
      expect(await elsewhere("session", first.cookie, false)).toBe(false);
      await world().sessions.endOthers(userId, null);
      expect(await world().identities.find("session", second.cookie)).toBeUndefined();
      expect(await elsewhere("session", second.cookie, false)).toBe(false);
    });

    test("find() stops finding the tokens of a removed member, here immediately and elsewhere soon", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const { fingerprint } = await aToken(world(), { organizationId, userId });
      expect(await world().identities.find("token", fingerprint)).toBeDefined();
      expect(await elsewhere("token", fingerprint, true)).toBe(true);
      await world().members.remove(organizationId, userId);
      expect(await world().identities.find("token", fingerprint)).toBeUndefined();
      expect(await elsewhere("token", fingerprint, false)).toBe(false);
    });

    test("used() is eventually shown on the token", async () => {
      const { id: organizationId } = await anOrganization(world());
      const userId = await aMember(world(), organizationId);
      const { token } = await aToken(world(), { organizationId, userId });
      const untouched = await aToken(world(), { organizationId, userId });
      world().identities.used({ kind: "token", id: token.id }, minutes(7));
      world().identities.used({ kind: "session", id: newId("ses") }, minutes(8));
      const list = async () => (await world().tokens.list({ organizationId, userId }, { page: 1, perPage: 10 })).items;
      const listed = await eventually(list, (items) => items.some(({ lastUsedAt }) => lastUsedAt !== null));
      expect(listed.find(({ id }) => id === token.id)?.lastUsedAt).toEqual(minutes(7));
      expect(listed.find(({ id }) => id === untouched.token.id)?.lastUsedAt).toBeNull();
    });
  });
}

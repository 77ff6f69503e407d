import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
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

const ALL = { page: 1, perPage: 100 };

/** Contract tests for `Tokens` adapters. */
export function tokensContract(
  name: string,
  open: () => Promise<WorldOf<"tokens" | "identities" | "installation" | "invitations" | "organizations">>,
) {
  describe(`Tokens contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function anOwner() {
      const { id: organizationId } = await anOrganization(world());
      return { organizationId, userId: await aMember(world(), organizationId) };
    }

    test.each(oddTexts)("list() returns a token named %j with its narrowing", async (text) => {
      const owner = await anOwner();
      const { token } = await aToken(world(), {
        ...owner,
        name: text,
        narrowing: {
          permissions: ["deployment:read", "project:admin"],
          grants: [{ resource: "githost", id: text, action: "write" }],
        },
        expiresAt: minutes(60),
      });
      expect(await world().tokens.list(owner, ALL)).toEqual({ items: [token], total: 1 });
    });

    test("list() distinguishes no narrowing from an empty one", async () => {
      const owner = await anOwner();
      const { token: whole } = await aToken(world(), { ...owner, createdAt: minutes(1) });
      const { token: nothing } = await aToken(world(), { ...owner, narrowing: { permissions: [], grants: [] } });
      expect((await world().tokens.list(owner, ALL)).items).toEqual([whole, nothing]);
    });

    test("list() distinguishes a link token from others", async () => {
      const owner = await anOwner();
      const { token: link, fingerprint } = await aToken(world(), { ...owner, link: true, createdAt: minutes(1) });
      const { token: plain } = await aToken(world(), owner);
      expect((await world().tokens.list(owner, ALL)).items).toEqual([link, plain]);
      expect((await world().identities.find("token", fingerprint))?.credential).toEqual({
        kind: "token",
        id: link.id,
        link: true,
      });
    });

    test("list() shows an expired token", async () => {
      const owner = await anOwner();
      const { token } = await aToken(world(), { ...owner, expiresAt: new Date("2001-01-01") });
      expect((await world().tokens.list(owner, ALL)).items).toEqual([token]);
    });

    test("list() pages through one user's tokens of one organization, newest first, equal times by id", async () => {
      const owner = await anOwner();
      const other = await anOrganization(world());
      await joins(world(), owner.userId, { organizationId: other.id, at: START });
      const colleague = await aMember(world(), owner.organizationId);
      const made = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push((await aToken(world(), { ...owner, createdAt: minutes(minute) })).token);
      }
      await aToken(world(), { organizationId: other.id, userId: owner.userId });
      await aToken(world(), { organizationId: owner.organizationId, userId: colleague });
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().tokens.list(owner, page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
    });

    test("revoke() revokes a token immediately, and once", async () => {
      const owner = await anOwner();
      const { token, fingerprint } = await aToken(world(), owner);
      const kept = await aToken(world(), owner);
      expect(await world().identities.find("token", fingerprint)).toBeDefined();
      expect(await world().tokens.revoke(owner, token.id)).toBe(true);
      expect(await world().identities.find("token", fingerprint)).toBeUndefined();
      expect(await world().tokens.list(owner, ALL)).toEqual({ items: [kept.token], total: 1 });
      expect(await world().tokens.revoke(owner, token.id)).toBe(false);
    });

    test("revoke() does not affect tokens of other users or organizations", async () => {
      const owner = await anOwner();
      const colleague = { ...owner, userId: await aMember(world(), owner.organizationId) };
      const elsewhere = { ...owner, organizationId: (await anOrganization(world())).id };
      const { token, fingerprint } = await aToken(world(), owner);
      expect(await world().tokens.revoke(colleague, token.id)).toBe(false);
      expect(await world().tokens.revoke(elsewhere, token.id)).toBe(false);
      expect(await world().tokens.revoke(owner, newId("tok"))).toBe(false);
      expect(await world().identities.find("token", fingerprint)).toMatchObject({ userId: owner.userId });
    });

    test("sweep() removes tokens that were revoked or expired before a time, and counts them", async () => {
      const { tokens, identities } = world();
      const longAgo = new Date("1980-01-01T00:00:00.000Z");
      const soon = new Date(Date.now() + 60_000);
      await tokens.sweep(soon);
      const owner = await anOwner();
      const expired = await aToken(world(), { ...owner, expiresAt: new Date(longAgo.getTime() - 1) });
      const later = await aToken(world(), { ...owner, expiresAt: longAgo, createdAt: minutes(1) });
      const lasting = await aToken(world(), owner);
      const revoked = await aToken(world(), owner);
      await tokens.revoke(owner, revoked.token.id);
      expect(await tokens.sweep(longAgo)).toBe(1);
      expect((await tokens.list(owner, ALL)).items).toEqual([later.token, lasting.token]);
      expect(await identities.find("token", expired.fingerprint)).toBeUndefined();
      expect(await tokens.sweep(new Date(Date.now() - 60_000))).toBe(1);
      expect((await tokens.list(owner, ALL)).items).toEqual([lasting.token]);
      expect(await tokens.sweep(soon)).toBe(1);
      expect(await tokens.sweep(soon)).toBe(0);
    });

    test("sweep() keeps the token of the first owner, so that it can be replaced", async () => {
      const { tokens, identities, installation } = world();
      const founder = await founderOf(world());
      const token = await uniqueFingerprint();
      await installation.replaceFounderToken(token);
      const identity = (await identities.find("token", token))!;
      const owner = { organizationId: identity.memberships[0]!.organizationId, userId: founder.id };
      expect(await tokens.revoke(owner, identity.credential.id)).toBe(true);
      await tokens.sweep(new Date(Date.now() + 60_000));
      const next = await uniqueFingerprint();
      expect(await installation.replaceFounderToken(next)).toBe(true);
      expect(await identities.find("token", next)).toMatchObject({ userId: founder.id });
    });

    test("concurrent revoke() calls succeed once", async () => {
      const owner = await anOwner();
      const { token } = await aToken(world(), owner);
      const outcomes = await Promise.all([1, 2, 3].map(() => world().tokens.revoke(owner, token.id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });
  });
}

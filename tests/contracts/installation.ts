import { describe, expect, test } from "bun:test";
import type { Installation } from "../../ports/identity/installation.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { firstOwner, founderOf, uniqueFingerprint } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };

/** Replaces the fingerprint of the founder's token and returns the new one. */
async function newFounderToken(installation: Installation): Promise<string> {
  const fingerprint = await uniqueFingerprint();
  expect(await installation.replaceFounderToken(fingerprint)).toBe(true);
  return fingerprint;
}

/** Contract tests for `Installation` adapters. */
export function installationContract(
  name: string,
  open: () => Promise<WorldOf<"installation" | "identities" | "members" | "organizations" | "tokens" | "users">>,
) {
  describe(`Installation contract: ${name}`, () => {
    const world = sharedWorld(open);

    test("id() is the same for all callers, concurrently and later", async () => {
      const { installation } = world();
      const ids = await Promise.all(Array.from({ length: 5 }, () => installation.id()));
      expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(new Set([...ids, await installation.id()]).size).toBe(1);
    });

    test("usesContainers() is true for all callers once it was recorded, and stays so", async () => {
      const { installation } = world();
      await Promise.all(Array.from({ length: 3 }, () => installation.noteContainers()));
      expect(await installation.usesContainers()).toBe(true);
      await installation.noteContainers();
      expect(await installation.usesContainers()).toBe(true);
    });

    test("concurrent claim() calls store the first owner exactly once", async () => {
      const { installation, identities, members, organizations, users } = world();
      const before = await installation.founder();
      const owners = await Promise.all(Array.from({ length: 5 }, firstOwner));
      const outcomes = await Promise.all(owners.map((owner) => installation.claim(owner)));
      expect(outcomes.filter(Boolean)).toHaveLength(before ? 0 : 1);
      for (const [index, { organization, user, token, tokenFingerprint }] of owners.entries()) {
        const identity = await identities.find("token", tokenFingerprint);
        const listed = await organizations.list([organization.id], ALL);
        if (outcomes[index]) {
          expect(await users.find(user.id)).toEqual(user);
          expect(listed.items).toEqual([organization]);
          expect(await members.find(organization.id, user.id)).toMatchObject({ role: "owner", grants: [] });
          expect(identity).toEqual({
            userId: user.id,
            founder: true,
            credential: { kind: "token", id: token.id },
            expiresAt: null,
            narrowing: null,
            boundTo: organization.id,
            memberships: [{ organizationId: organization.id, role: "owner", grants: [] }],
          });
        } else {
          expect(await users.find(user.id)).toBeUndefined();
          expect(listed.total).toBe(0);
          expect(identity).toBeUndefined();
        }
      }
    });

    test("claim() stores nothing once there is a first owner", async () => {
      const founder = await founderOf(world());
      const { organization, user, ...rest } = await firstOwner();
      expect(await world().installation.claim({ organization, user, ...rest })).toBe(false);
      expect(await world().installation.founder()).toEqual(founder);
      expect(await world().users.find(user.id)).toBeUndefined();
    });

    test("organizationId() returns the organization of the first owner", async () => {
      const { installation, organizations } = world();
      const founder = await founderOf({ installation });
      const { items } = await organizations.listOf(founder.id, ALL);
      expect(items.map(({ id }) => id)).toContain((await installation.organizationId())!);
    });

    test("founder() returns the first owner as users has it", async () => {
      const founder = await founderOf(world());
      expect(founder.founder).toBe(true);
      expect(await world().users.find(founder.id)).toEqual(founder);
    });

    test("replaceFounderToken() revokes the former token and makes the new one the founder's", async () => {
      const founder = await founderOf(world());
      const { installation, identities } = world();
      const former = await newFounderToken(installation);
      expect(await identities.find("token", former)).toMatchObject({ userId: founder.id, founder: true });
      const present = await newFounderToken(installation);
      expect(await identities.find("token", former)).toBeUndefined();
      expect(await identities.find("token", present)).toMatchObject({
        userId: founder.id,
        founder: true,
        narrowing: null,
      });
    });

    test("replaceFounderToken() with the current fingerprint changes nothing", async () => {
      const founder = await founderOf(world());
      const present = await newFounderToken(world().installation);
      expect(await world().installation.replaceFounderToken(present)).toBe(false);
      expect(await world().identities.find("token", present)).toMatchObject({ userId: founder.id });
    });

    test("concurrent replaceFounderToken() calls with one fingerprint succeed once", async () => {
      await founderOf(world());
      const present = await uniqueFingerprint();
      const outcomes = await Promise.all([1, 2, 3].map(() => world().installation.replaceFounderToken(present)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    test("replaceFounderToken() restores access after the founder revoked the token, only with a new one", async () => {
      const founder = await founderOf(world());
      const { installation, identities, tokens } = world();
      const revoked = await newFounderToken(installation);
      const { boundTo, credential } = (await identities.find("token", revoked))!;
      await tokens.revoke({ organizationId: boundTo!, userId: founder.id }, credential.id);
      expect(await installation.replaceFounderToken(revoked)).toBe(false);
      expect(await identities.find("token", revoked)).toBeUndefined();
      const present = await newFounderToken(installation);
      expect(await identities.find("token", present)).toMatchObject({ userId: founder.id });
      expect(await identities.find("token", revoked)).toBeUndefined();
    });
  });
}

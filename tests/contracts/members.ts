import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Grant } from "../../domain/identity/permission.ts";
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
  uniqueLabel,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };
const NOTHING = { role: "restricted", grants: [] } as const;

/** Contract tests for `Members` adapters. */
export function membersContract(
  name: string,
  open: () => Promise<
    WorldOf<
      "members" | "identities" | "installation" | "invitations" | "organizations" | "sessions" | "tokens" | "users"
    >
  >,
) {
  describe(`Members contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** An organization whose only members are two owners. */
    async function twoOwners(): Promise<readonly [organizationId: string, first: string, second: string]> {
      const { id } = await anOrganization(world());
      const founder = await founderOf(world());
      const first = await aMember(world(), id, { role: "owner" });
      const second = await aMember(world(), id, { role: "owner" });
      expect(await world().members.remove(id, founder.id)).toBe("done");
      return [id, first, second];
    }

    async function owners(organizationId: string): Promise<number> {
      const { items } = await world().members.list(organizationId, ALL);
      return items.filter(({ role }) => role === "owner").length;
    }

    test("find() returns a member with name, address, role and grants", async () => {
      const { id } = await anOrganization(world());
      const grants: Grant[] = oddTexts.map((text) => ({ resource: "githost", id: text, action: "read" }));
      const email = `kim-${uniqueLabel()}@example.com`;
      const userId = await aMember(world(), id, { role: "restricted", grants, email, name: "Kim", at: minutes(3) });
      expect(await world().members.find(id, userId)).toEqual({
        userId,
        organizationId: id,
        email,
        name: "Kim",
        role: "restricted",
        grants,
        createdAt: minutes(3),
      });
    });

    test("find() and list() return the current name and address of a member", async () => {
      const { id } = await anOrganization(world());
      const userId = await aMember(world(), id, { at: minutes(1) });
      const email = `now-${uniqueLabel()}@example.com`;
      await world().users.change(userId, { name: "Now", email });
      expect(await world().members.find(id, userId)).toMatchObject({ name: "Now", email });
      expect((await world().members.list(id, ALL)).items[0]).toMatchObject({ userId, name: "Now", email });
    });

    test("find() finds no member in another organization", async () => {
      const [{ id }, other] = [await anOrganization(world()), await anOrganization(world())];
      const userId = await aMember(world(), id);
      expect(await world().members.find(other.id, userId)).toBeUndefined();
      expect(await world().members.find(newId("org"), userId)).toBeUndefined();
      expect(await world().members.find(id, newId("usr"))).toBeUndefined();
    });

    test("list() pages through the members of one organization, newest first, equal times by id", async () => {
      const { id } = await anOrganization(world(), { createdAt: START });
      const other = await anOrganization(world());
      const rows = [{ userId: (await founderOf(world())).id, at: START }];
      for (const minute of SHUFFLED_MINUTES) {
        rows.push({ userId: await aMember(world(), id, { at: minutes(minute) }), at: minutes(minute) });
      }
      await aMember(world(), other.id);
      const expected = newestFirst(rows, { at: ({ at }) => at, id: ({ userId }) => userId });
      await expectPages(
        (page) => world().members.list(id, page),
        expected.map(({ userId }) => userId),
        ({ userId }) => userId,
      );
    });

    test("list() is empty for an unknown organization", async () => {
      expect(await world().members.list(newId("org"), ALL)).toEqual({ items: [], total: 0 });
    });

    test("change() replaces role and grants in that organization only", async () => {
      const [{ id }, other] = [await anOrganization(world()), await anOrganization(world())];
      const userId = await aMember(world(), id, { grants: [{ resource: "project", id: "*", action: "admin" }] });
      await joins(world(), userId, { organizationId: other.id, at: START, role: "viewer" });
      const grants: Grant[] = [{ resource: "server", id: newId("srv"), action: "write" }];
      expect(await world().members.change(id, userId, { role: "restricted", grants })).toBe("done");
      expect(await world().members.find(id, userId)).toMatchObject({ role: "restricted", grants });
      expect(await world().members.find(other.id, userId)).toMatchObject({ role: "viewer", grants: [] });
    });

    test("change() and remove() find no one outside of the organization", async () => {
      const [{ id }, other] = [await anOrganization(world()), await anOrganization(world())];
      const userId = await aMember(world(), id);
      expect(await world().members.change(other.id, userId, NOTHING)).toBe("missing");
      expect(await world().members.remove(other.id, userId)).toBe("missing");
      expect(await world().members.change(id, newId("usr"), NOTHING)).toBe("missing");
      expect(await world().members.remove(id, newId("usr"))).toBe("missing");
      expect(await world().members.find(id, userId)).toMatchObject({ role: "developer" });
    });

    test("change() and remove() keep the last owner, even beside other members", async () => {
      const { id } = await anOrganization(world());
      const owner = await founderOf(world());
      await aMember(world(), id, { role: "admin" });
      const before = await world().members.find(id, owner.id);
      expect(await world().members.change(id, owner.id, { role: "admin", grants: [] })).toBe("last_owner");
      expect(await world().members.remove(id, owner.id)).toBe("last_owner");
      expect(await world().members.find(id, owner.id)).toEqual(before!);
    });

    test("change() can give grants to the last owner", async () => {
      const { id } = await anOrganization(world());
      const owner = await founderOf(world());
      const grants: Grant[] = [{ resource: "project", id: "*", action: "admin" }];
      expect(await world().members.change(id, owner.id, { role: "owner", grants })).toBe("done");
      expect(await world().members.find(id, owner.id)).toMatchObject({ role: "owner", grants });
    });

    test("change() can demote an owner once there is another", async () => {
      const [id, first, second] = await twoOwners();
      expect(await world().members.change(id, first, { role: "viewer", grants: [] })).toBe("done");
      expect(await world().members.change(id, second, { role: "viewer", grants: [] })).toBe("last_owner");
    });

    test("remove() ends a membership once", async () => {
      const { id } = await anOrganization(world());
      const userId = await aMember(world(), id);
      expect(await world().members.remove(id, userId)).toBe("done");
      expect(await world().members.find(id, userId)).toBeUndefined();
      expect((await world().members.list(id, ALL)).total).toBe(1);
      expect(await world().members.remove(id, userId)).toBe("missing");
    });

    test("remove() revokes the member's tokens of that organization only", async () => {
      const [{ id }, other] = [await anOrganization(world()), await anOrganization(world())];
      const userId = await aMember(world(), id);
      const colleague = await aMember(world(), id);
      await joins(world(), userId, { organizationId: other.id, at: START });
      const here = await aToken(world(), { organizationId: id, userId });
      const there = await aToken(world(), { organizationId: other.id, userId });
      const theirs = await aToken(world(), { organizationId: id, userId: colleague });
      await world().members.remove(id, userId);
      expect(await world().identities.find("token", here.fingerprint)).toBeUndefined();
      expect((await world().tokens.list({ organizationId: id, userId }, ALL)).total).toBe(0);
      expect(await world().identities.find("token", there.fingerprint)).toMatchObject({ userId });
      expect(await world().identities.find("token", theirs.fingerprint)).toMatchObject({ userId: colleague });
    });

    test("remove() revokes tokens for good: joining again does not restore them", async () => {
      const { id } = await anOrganization(world());
      const userId = await aMember(world(), id);
      const { fingerprint } = await aToken(world(), { organizationId: id, userId });
      await world().members.remove(id, userId);
      await joins(world(), userId, { organizationId: id, at: minutes(9) });
      expect(await world().members.find(id, userId)).toBeDefined();
      expect(await world().identities.find("token", fingerprint)).toBeUndefined();
    });

    test("remove() keeps the user and the sessions, without that membership", async () => {
      const { id } = await anOrganization(world());
      const userId = await aMember(world(), id);
      const cookie = await uniqueFingerprint();
      const session = { id: newId("ses"), userId, createdAt: START, expiresAt: minutes(60) };
      await world().sessions.create(session, cookie);
      await world().members.remove(id, userId);
      expect(await world().users.find(userId)).toMatchObject({ id: userId });
      expect(await world().identities.find("session", cookie)).toMatchObject({ userId, memberships: [] });
    });

    test("concurrent remove() of the last two owners leaves one", async () => {
      for (let round = 0; round < 5; round++) {
        const [id, first, second] = await twoOwners();
        const outcomes = await Promise.all([world().members.remove(id, first), world().members.remove(id, second)]);
        expect(outcomes.toSorted()).toEqual(["done", "last_owner"]);
        expect(await owners(id)).toBe(1);
      }
    });

    test("concurrent change() of the last two owners leaves one", async () => {
      for (let round = 0; round < 5; round++) {
        const [id, first, second] = await twoOwners();
        const outcomes = await Promise.all([
          world().members.change(id, first, NOTHING),
          world().members.change(id, second, NOTHING),
        ]);
        expect(outcomes.toSorted()).toEqual(["done", "last_owner"]);
        expect(await owners(id)).toBe(1);
      }
    });

    test("concurrent remove() and change() of the last two owners leave one", async () => {
      for (let round = 0; round < 5; round++) {
        const [id, first, second] = await twoOwners();
        const outcomes = await Promise.all([
          world().members.remove(id, first),
          world().members.change(id, second, NOTHING),
        ]);
        expect(outcomes.toSorted()).toEqual(["done", "last_owner"]);
        expect(await owners(id)).toBe(1);
      }
    });

    test("concurrent remove() calls for one member succeed once", async () => {
      const { id } = await anOrganization(world());
      const userId = await aMember(world(), id);
      const outcomes = await Promise.all([1, 2, 3].map(() => world().members.remove(id, userId)));
      expect(outcomes.toSorted()).toEqual(["done", "missing", "missing"]);
    });
  });
}

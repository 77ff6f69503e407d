import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { Organization } from "../../domain/identity/identity.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import {
  aMember,
  anOrganization,
  founderOf,
  joins,
  minutes,
  organizationOf,
  START,
} from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const BY_CREATION = {
  at: ({ createdAt }: { readonly createdAt: Date }) => createdAt,
  id: ({ id }: { readonly id: string }) => id,
};
const ALL = { page: 1, perPage: 100 };

/** Contract tests for `Organizations` adapters. */
export function organizationsContract(
  name: string,
  open: () => Promise<WorldOf<"organizations" | "installation" | "invitations" | "members">>,
) {
  describe(`Organizations contract: ${name}`, () => {
    const world = sharedWorld(open);

    test.each(oddTexts)("list() returns the name %j unchanged", async (text) => {
      const organization = await anOrganization(world(), { name: text });
      expect(await world().organizations.list([organization.id], ALL)).toEqual({ items: [organization], total: 1 });
    });

    test("create() makes the owner a member from that time", async () => {
      const owner = await founderOf(world());
      const { id } = await anOrganization(world(), { createdAt: minutes(5) });
      expect(await world().members.find(id, owner.id)).toEqual({
        userId: owner.id,
        organizationId: id,
        email: owner.email,
        name: owner.name,
        role: "owner",
        grants: [],
        createdAt: minutes(5),
      });
    });

    test("create() refuses a taken slug and stores nothing", async () => {
      const owner = await founderOf(world());
      const { slug } = await anOrganization(world());
      const second = organizationOf({ slug });
      await expect(world().organizations.create(second, owner.id)).rejects.toMatchObject({
        kind: "conflict",
        code: "slug_taken",
      });
      expect(await world().organizations.list([second.id], ALL)).toEqual({ items: [], total: 0 });
      expect(await world().members.find(second.id, owner.id)).toBeUndefined();
    });

    test("concurrent create() calls with one slug store exactly one", async () => {
      const owner = await founderOf(world());
      const { slug } = organizationOf();
      const rivals = Array.from({ length: 5 }, () => organizationOf({ slug }));
      const outcomes = await Promise.allSettled(rivals.map((rival) => world().organizations.create(rival, owner.id)));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "slug_taken" });
      }
      const { total } = await world().organizations.list(
        rivals.map(({ id }) => id),
        ALL,
      );
      expect(total).toBe(1);
    });

    test("list() pages through the given ones, newest first, equal times by id", async () => {
      const made: Organization[] = [];
      for (const minute of SHUFFLED_MINUTES) made.push(await anOrganization(world(), { createdAt: minutes(minute) }));
      await anOrganization(world());
      const ids = [...made.map(({ id }) => id), newId("org")];
      const expected = newestFirst(made, BY_CREATION).map(({ id }) => id);
      await expectPages((page) => world().organizations.list(ids, page), expected, BY_CREATION.id);
    });

    test("list() of no ids is empty", async () => {
      await anOrganization(world());
      expect(await world().organizations.list([], ALL)).toEqual({ items: [], total: 0 });
    });

    test("listOf() pages through the organizations of a user, newest first, equal times by id", async () => {
      const made: Organization[] = [];
      for (const minute of SHUFFLED_MINUTES) made.push(await anOrganization(world(), { createdAt: minutes(minute) }));
      await anOrganization(world());
      const userId = await aMember(world(), made[0]!.id);
      for (const { id } of made.slice(1)) await joins(world(), userId, { organizationId: id, at: START });
      const expected = newestFirst(made, BY_CREATION).map(({ id }) => id);
      await expectPages((page) => world().organizations.listOf(userId, page), expected, BY_CREATION.id);
      await world().members.remove(made[0]!.id, userId);
      const left = expected.filter((id) => id !== made[0]!.id);
      await expectPages((page) => world().organizations.listOf(userId, page), left, BY_CREATION.id);
    });

    test("areSeveral() is true once there is more than one", async () => {
      await anOrganization(world());
      await anOrganization(world());
      expect(await world().organizations.areSeveral()).toBe(true);
    });

    test("listOf() is empty for an unknown user", async () => {
      expect(await world().organizations.listOf(newId("usr"), ALL)).toEqual({ items: [], total: 0 });
    });
  });
}

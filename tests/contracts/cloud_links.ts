import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `CloudLinks` adapters. */
export function cloudLinksContract(
  name: string,
  open: () => Promise<WorldOf<"cloudLinks" | "installation" | "organizations">>,
) {
  describe(`CloudLinks contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aLink(token = "cloud-token") {
      const { id: organizationId } = await anOrganization(world());
      const link = { organizationId, url: "https://cloud.example.com/base", updatedAt: minutes(1) };
      await world().cloudLinks.put(link, new Secret(token));
      return link;
    }

    test("find() returns a link without its token", async () => {
      const link = await aLink("swordfish");
      const found = await world().cloudLinks.find(link.organizationId);
      expect(found).toEqual(link);
      expect(Bun.inspect(found)).not.toContain("swordfish");
    });

    test.each(oddTexts)("address() returns the token %j unchanged", async (text) => {
      const { organizationId } = await aLink(text);
      const { url, token } = (await world().cloudLinks.address(organizationId))!;
      expect(url).toBe("https://cloud.example.com/base");
      expect(token).toBeInstanceOf(Secret);
      expect(token.reveal()).toBe(text);
    });

    test("find(), address() and remove() find nothing for an organization without a link", async () => {
      await aLink();
      for (const id of [(await anOrganization(world())).id, newId("org")]) {
        expect(await world().cloudLinks.find(id)).toBeUndefined();
        expect(await world().cloudLinks.address(id)).toBeUndefined();
        expect(await world().cloudLinks.remove(id)).toBe(false);
      }
    });

    test("put() replaces address and token of that organization alone", async () => {
      const [link, other] = [await aLink("old"), await aLink("theirs")];
      const next = { ...link, url: "https://other.example.com", updatedAt: minutes(2) };
      await world().cloudLinks.put(next, new Secret("new"));
      expect(await world().cloudLinks.find(link.organizationId)).toEqual(next);
      expect((await world().cloudLinks.address(link.organizationId))!.token.reveal()).toBe("new");
      expect(await world().cloudLinks.find(other.organizationId)).toEqual(other);
      expect((await world().cloudLinks.address(other.organizationId))!.token.reveal()).toBe("theirs");
    });

    test("address() returns no token with another address during concurrent put() calls", async () => {
      const { organizationId } = await aLink("token cloud");
      const puts = [1, 2, 3, 4].map((number) =>
        world().cloudLinks.put(
          { organizationId, url: `https://${number}.example.com/base`, updatedAt: minutes(number) },
          new Secret(`token ${number}`),
        ),
      );
      const reads = puts.map(() => world().cloudLinks.address(organizationId));
      await Promise.all(puts);
      for (const found of [...(await Promise.all(reads)), await world().cloudLinks.address(organizationId)])
        expect(found!.url).toBe(`https://${found!.token.reveal().slice("token ".length)}.example.com/base`);
    });

    test("remove() removes a link once", async () => {
      const { organizationId } = await aLink();
      const outcomes = await Promise.all([1, 2, 3].map(() => world().cloudLinks.remove(organizationId)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().cloudLinks.find(organizationId)).toBeUndefined();
      expect(await world().cloudLinks.address(organizationId)).toBeUndefined();
    });
  });
}

import { describe, expect, test } from "bun:test";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { newId } from "../../domain/id.ts";
import type { DomainFilter } from "../../ports/domains/domains.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aPlace, aProject, domainOf, minutes, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };

/** Contract tests for `Domains` adapters. */
export function domainsContract(
  name: string,
  open: () => Promise<WorldOf<"domains" | "installation" | "organizations" | "projects">>,
) {
  describe(`Domains contract: ${name}`, () => {
    const world = sharedWorld(open);

    /** A project in a new organization, to which names can be added. */
    const anOldPlace = () => aPlace(world(), { createdAt: minutes(-60) });

    async function aClaim(overrides: Partial<DomainName> = {}): Promise<DomainName> {
      const domain = domainOf({ ...(await anOldPlace()), ...overrides });
      expect(await world().domains.claim(domain)).toBe(true);
      return domain;
    }

    async function stored({ organizationId, id }: DomainName): Promise<DomainName | undefined> {
      return world().domains.find(organizationId, id);
    }

    async function found(organizationId: string, filter: DomainFilter): Promise<readonly DomainName[]> {
      return (await world().domains.list(organizationId, filter, ALL)).items;
    }

    test("find() returns a name as it was stored", async () => {
      const claims = [
        await aClaim({ proof: oddTexts[0]! }),
        await aClaim({ type: "free", verifiedAt: START }),
        await aClaim({ hostname: `xn--bcher-kva-${newId("dom").slice(4)}.example` }),
      ];
      for (const claim of claims) expect(await stored(claim)).toEqual(claim);
    });

    test("ofProjects() returns all names of the given projects only, however many, newest first", async () => {
      const [one, other] = [await anOldPlace(), await anOldPlace()];
      await aClaim();
      const claims = [];
      for (let index = 0; index < 120; index++) claims.push(await aClaim({ ...one, createdAt: minutes(index) }));
      claims.push(await aClaim({ ...other, createdAt: minutes(200) }));
      const named = await world().domains.ofProjects([one.projectId, other.projectId, newId("prj")]);
      const added = named.filter(({ type }) => type !== "free");
      expect(added.map(({ id }) => id)).toEqual(claims.map(({ id }) => id).toReversed());
      // Each project also has a free name.
      expect(named).toHaveLength(claims.length + 2);
      expect(await world().domains.ofProjects([])).toEqual([]);
      expect((await world().domains.ofProjects([other.projectId])).map(({ projectId }) => projectId)).toEqual([
        other.projectId,
        other.projectId,
      ]);
    });

    test("find(), verified() and remove() do not reach a name of another organization", async () => {
      const claim = await aClaim();
      const { organizationId: other } = await anOldPlace();
      expect(await world().domains.find(other, claim.id)).toBeUndefined();
      expect(await world().domains.verified(other, claim.id, minutes(1))).toBeUndefined();
      expect(await world().domains.remove(other, claim.id)).toBe(false);
      expect(await stored(claim)).toEqual(claim);
    });

    test("find(), verified() and remove() find nothing for an unknown name", async () => {
      const { organizationId } = await anOldPlace();
      const id = newId("dom");
      expect(await world().domains.find(organizationId, id)).toBeUndefined();
      expect(await world().domains.verified(organizationId, id, START)).toBeUndefined();
      expect(await world().domains.remove(organizationId, id)).toBe(false);
    });

    test("list() finds names by exact match, within one organization", async () => {
      const place = await anOldPlace();
      const claim = await aClaim(place);
      const second = await aClaim(place);
      await aClaim(place);
      const { organizationId: other } = await anOldPlace();
      const { hostname } = claim;
      const hostnames = [hostname];
      expect(await found(place.organizationId, { hostnames })).toEqual([claim]);
      const both = await found(place.organizationId, { hostnames: [second.hostname, "unknown", hostname] });
      expect(both.map(({ id }) => id).toSorted()).toEqual([claim.id, second.id].toSorted());
      expect(await found(place.organizationId, { hostnames, projectIds: [] })).toEqual([]);
      expect(await found(place.organizationId, { hostnames: [] })).toEqual([]);
      expect(await found(place.organizationId, { hostnames: [`x${hostname}`, "%"] })).toEqual([]);
      expect(await found(other, { hostnames })).toEqual([]);
    });

    test("list() pages through the names of one organization, newest first, equal times by id", async () => {
      const place = await anOldPlace();
      const [free] = (await world().domains.list(place.organizationId, {}, ALL)).items;
      const made = [free!];
      for (const minute of SHUFFLED_MINUTES) made.push(await aClaim({ ...place, createdAt: minutes(minute) }));
      await aClaim();
      const expected = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id });
      await expectPages(
        (page) => world().domains.list(place.organizationId, {}, page),
        expected.map(({ id }) => id),
        ({ id }) => id,
      );
      expect((await world().domains.list(place.organizationId, {}, ALL)).items).toEqual(expected);
    });

    test("list() by projects returns only names of the organization, page by page", async () => {
      const place = await anOldPlace();
      const second = await aProject(world(), { organizationId: place.organizationId, createdAt: minutes(-50) });
      await aProject(world(), { organizationId: place.organizationId });
      const foreign = await aClaim();
      const made = [
        await aClaim({ ...place, createdAt: minutes(2) }),
        await aClaim({ ...place, projectId: second.id, createdAt: minutes(1) }),
      ];
      const projectIds = [place.projectId, second.id, foreign.projectId, newId("prj")];
      const { items, total } = await world().domains.list(place.organizationId, { projectIds }, ALL);
      // Two claims, and the free names of both projects.
      expect(total).toBe(4);
      expect(items.slice(0, 2)).toEqual(made);
      await expectPages(
        (page) => world().domains.list(place.organizationId, { projectIds }, page),
        items.map(({ id }) => id),
        ({ id }) => id,
      );
      const none = await world().domains.list(place.organizationId, { projectIds: [] }, ALL);
      expect(none).toEqual({ items: [], total: 0 });
    });

    test("claim() refuses a name that the organization has claimed, however old the claim is", async () => {
      const held = await aClaim();
      const again = domainOf({ ...held, id: newId("dom"), createdAt: minutes(1_000_000) });
      expect(await world().domains.claim(again)).toBe(false);
      expect(await stored(again)).toBeUndefined();
      expect(await stored(held)).toEqual(held);
    });

    test("claim() refuses a verified name and a free one to everybody", async () => {
      const proven = await aClaim();
      await world().domains.verified(proven.organizationId, proven.id, minutes(1));
      for (const { hostname } of [proven, await aClaim({ type: "free", verifiedAt: START })]) {
        const rival = domainOf({ ...(await anOldPlace()), hostname });
        expect(await world().domains.claim(rival)).toBe(false);
        expect(await stored(rival)).toBeUndefined();
      }
      expect(await stored(proven)).toEqual({ ...proven, verifiedAt: minutes(1) });
    });

    test("an unproven claim() does not keep another organization from claiming and verifying the name", async () => {
      const held = await aClaim();
      const rival = await aClaim({ hostname: held.hostname });
      expect(await stored(held)).toEqual(held);
      const proven = await world().domains.verified(rival.organizationId, rival.id, minutes(2));
      expect(proven).toEqual({ ...rival, verifiedAt: minutes(2) });
      const late = world().domains.verified(held.organizationId, held.id, minutes(3));
      await expect(late).rejects.toMatchObject({ kind: "conflict", code: "hostname_taken" });
      expect(await stored(held)).toEqual(held);
      await world().domains.remove(rival.organizationId, rival.id);
      expect(await world().domains.verified(held.organizationId, held.id, minutes(4))).toEqual({
        ...held,
        verifiedAt: minutes(4),
      });
    });

    test("concurrent claim() of one name succeeds once in each organization", async () => {
      const { hostname } = domainOf({ organizationId: "", projectId: "" });
      const places = [await anOldPlace(), await anOldPlace()];
      const rivals = places.flatMap((place) => [1, 2, 3].map(() => domainOf({ ...place, hostname })));
      const outcomes = await Promise.all(rivals.map((rival) => world().domains.claim(rival)));
      expect(outcomes.slice(0, 3).filter(Boolean)).toHaveLength(1);
      expect(outcomes.slice(3).filter(Boolean)).toHaveLength(1);
      expect((await Promise.all(rivals.map(stored))).map(Boolean)).toEqual(outcomes);
    });

    test("concurrent claim() of one free name by several organizations succeeds once", async () => {
      const { hostname } = domainOf({ organizationId: "", projectId: "" });
      const places = [await anOldPlace(), await anOldPlace(), await anOldPlace()];
      const rivals = places.map((place) => domainOf({ ...place, hostname, type: "free", verifiedAt: START }));
      const outcomes = await Promise.all(rivals.map((rival) => world().domains.claim(rival)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect((await Promise.all(rivals.map(stored))).map(Boolean)).toEqual(outcomes);
    });

    test("of concurrent verified() of one name by several organizations, one succeeds", async () => {
      for (let round = 0; round < 3; round++) {
        const first = await aClaim();
        const rivals = [first, await aClaim({ hostname: first.hostname }), await aClaim({ hostname: first.hostname })];
        const outcomes = await Promise.allSettled(
          rivals.map(({ organizationId, id }) => world().domains.verified(organizationId, id, START)),
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const kept = await Promise.all(rivals.map(stored));
        expect(kept.map((each) => each?.verifiedAt !== null)).toEqual(
          outcomes.map(({ status }) => status === "fulfilled"),
        );
      }
    });

    test("unverified() lists the custom names of all organizations that wait, or those of one host name", async () => {
      const claim = await aClaim();
      const rival = await aClaim({ hostname: claim.hostname });
      const other = await aClaim();
      const proven = await aClaim();
      await world().domains.verified(proven.organizationId, proven.id, START);
      const free = await aClaim({ type: "free", verifiedAt: START });
      const all = (await world().domains.unverified()).map(({ id }) => id);
      expect(all).toEqual(expect.arrayContaining([claim.id, rival.id, other.id]));
      for (const { id } of [proven, free]) expect(all).not.toContain(id);
      const both = [claim, rival].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(await world().domains.unverified(claim.hostname)).toEqual(both);
      expect(await world().domains.unverified(proven.hostname)).toEqual([]);
    });

    test("verified() records the time", async () => {
      const claim = await aClaim();
      const proven = await world().domains.verified(claim.organizationId, claim.id, minutes(3));
      expect(proven).toEqual({ ...claim, verifiedAt: minutes(3) });
      expect(await stored(claim)).toEqual(proven!);
    });

    test("remove() removes a name once and makes it available again", async () => {
      const claim = await aClaim();
      const { organizationId, id, hostname } = claim;
      const outcomes = await Promise.all([1, 2, 3].map(() => world().domains.remove(organizationId, id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await stored(claim)).toBeUndefined();
      const next = await aClaim({ hostname });
      expect(await stored(next)).toEqual(next);
    });
  });
}

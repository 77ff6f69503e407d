import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { RepositoryHook } from "../../ports/githost/repository_hooks.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, minutes, uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `RepositoryHooks` adapters. */
export function repositoryHooksContract(
  name: string,
  open: () => Promise<WorldOf<"installation" | "organizations" | "repositoryHooks">>,
) {
  describe(`RepositoryHooks contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aHook(secret = "hook-secret", overrides: Partial<RepositoryHook> = {}): Promise<RepositoryHook> {
      const hook = {
        organizationId: overrides.organizationId ?? (await anOrganization(world())).id,
        owner: "Acme",
        repo: `Shop-${uniqueLabel()}`,
        hookId: 2 ** 40,
        createdAt: minutes(1),
        ...overrides,
      };
      await world().repositoryHooks.put(hook, new Secret(secret));
      return hook;
    }

    async function secretOf(hook: RepositoryHook): Promise<string | undefined> {
      return (await world().repositoryHooks.secret(hook.organizationId, hook))?.reveal();
    }

    test("find() returns a webhook without its secret, whatever the case of its name", async () => {
      const hook = await aHook("swordfish");
      const { owner, repo } = hook;
      for (const asked of [
        { owner, repo },
        { owner: owner.toLowerCase(), repo: repo.toUpperCase() },
      ]) {
        const found = await world().repositoryHooks.find(hook.organizationId, asked);
        expect(found).toEqual(hook);
        expect(Bun.inspect(found)).not.toContain("swordfish");
        expect((await world().repositoryHooks.secret(hook.organizationId, asked))?.reveal()).toBe("swordfish");
      }
    });

    test.each(oddTexts)("find() and secret() return %j unchanged", async (text) => {
      const hook = await aHook(text, { owner: text, repo: text });
      expect(await world().repositoryHooks.find(hook.organizationId, hook)).toEqual(hook);
      expect(await secretOf(hook)).toBe(text);
    });

    test("nothing is found in another organization, or of another repository", async () => {
      const hook = await aHook();
      const { id: other } = await anOrganization(world());
      const asked = [
        [other, hook],
        [newId("org"), hook],
        [hook.organizationId, { ...hook, owner: "acme2" }],
        [hook.organizationId, { ...hook, repo: "other" }],
      ] as const;
      for (const [organizationId, repository] of asked) {
        expect(await world().repositoryHooks.find(organizationId, repository)).toBeUndefined();
        expect(await world().repositoryHooks.secret(organizationId, repository)).toBeUndefined();
        expect(await world().repositoryHooks.remove(organizationId, repository)).toBe(false);
      }
    });

    test("put() replaces the webhook of the same repository, whatever the case of its name", async () => {
      const former = await aHook("old");
      const other = await aHook("theirs", { owner: former.owner, repo: former.repo });
      const next = { ...former, owner: "ACME", repo: former.repo.toLowerCase(), hookId: 7, createdAt: minutes(2) };
      await world().repositoryHooks.put(next, new Secret("new"));
      expect(await world().repositoryHooks.find(former.organizationId, former)).toEqual(next);
      expect(await secretOf(former)).toBe("new");
      expect(await world().repositoryHooks.find(other.organizationId, other)).toEqual(other);
      expect(await secretOf(other)).toBe("theirs");
    });

    test("secrets() returns those of all organizations with a webhook for the repository", async () => {
      const first = await aHook("one");
      const { owner, repo } = first;
      const second = await aHook("two", { owner: owner.toUpperCase(), repo: repo.toLowerCase() });
      await aHook("three");
      const found = await world().repositoryHooks.secrets({ owner: "aCME", repo });
      const texts = found.map(({ organizationId, secret }) => `${organizationId} ${secret.reveal()}`);
      expect(texts.toSorted()).toEqual([`${first.organizationId} one`, `${second.organizationId} two`].toSorted());
      expect(await world().repositoryHooks.secrets({ owner, repo: "other" })).toEqual([]);
    });

    test("remove() removes a webhook once, whatever the case of its name", async () => {
      const hook = await aHook();
      const asked = { owner: hook.owner.toUpperCase(), repo: hook.repo };
      const removals = [1, 2, 3].map(() => world().repositoryHooks.remove(hook.organizationId, asked));
      expect((await Promise.all(removals)).filter(Boolean)).toHaveLength(1);
      expect(await world().repositoryHooks.find(hook.organizationId, hook)).toBeUndefined();
      expect(await world().repositoryHooks.secrets(hook)).toEqual([]);
    });
  });
}

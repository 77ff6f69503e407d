import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import type { DeployKey, PinnedHostKey } from "../../domain/projects/deploy_key.ts";
import { Secret } from "../../domain/secret.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, aProject, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

function keyOf(projectId: string, count = 1): DeployKey {
  return {
    projectId,
    publicKey: `ssh-ed25519 AAAA${count} slipway-shop`,
    fingerprint: `SHA256:${count}`,
    createdAt: minutes(count),
  };
}

function hostKeyOf(host: string, count = 1): PinnedHostKey {
  return { host, key: `ssh-ed25519 AAAA${count}`, fingerprint: `SHA256:${count}`, pinnedAt: minutes(count) };
}

/** Contract tests for `DeployKeys` adapters. */
export function deployKeysContract(
  name: string,
  open: () => Promise<WorldOf<"deployKeys" | "installation" | "organizations" | "projects">>,
) {
  describe(`DeployKeys contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function project(): Promise<{ readonly id: string; readonly organizationId: string }> {
      const { id: organizationId } = await anOrganization(world());
      return { id: (await aProject(world(), { organizationId })).id, organizationId };
    }

    async function hostKeys(id: string): Promise<readonly PinnedHostKey[]> {
      return (await world().deployKeys.find(id))?.hostKeys ?? [];
    }

    async function aKey(secret = "private") {
      const { id } = await project();
      expect(await world().deployKeys.put(keyOf(id), new Secret(secret))).toBe(true);
      return id;
    }

    test("find() returns a key without its private part", async () => {
      const id = await aKey("swordfish");
      const found = await world().deployKeys.find(id);
      expect(found).toEqual({ ...keyOf(id), hostKeys: [] });
      expect(Bun.inspect(found)).not.toContain("swordfish");
    });

    test.each(oddTexts)("privateKey() returns %j unchanged", async (text) => {
      const key = await world().deployKeys.privateKey(await aKey(text));
      expect(key).toBeInstanceOf(Secret);
      expect(key!.reveal()).toBe(text);
    });

    test("all methods find nothing for a project without a key", async () => {
      for (const id of [(await project()).id, newId("prj")]) {
        expect(await world().deployKeys.find(id)).toBeUndefined();
        expect(await world().deployKeys.privateKey(id)).toBeUndefined();
        expect(await world().deployKeys.remove(id)).toBe(false);
        expect(await world().deployKeys.pinHostKey(id, hostKeyOf("git.example.com"))).toBeUndefined();
        expect(await world().deployKeys.find(id)).toBeUndefined();
        expect(await world().deployKeys.forgetHostKey(id, "git.example.com")).toBe(false);
      }
    });

    test("put() rejects for a project that does not exist", async () => {
      const putting = world().deployKeys.put(keyOf(newId("prj")), new Secret("x"));
      await expect(putting).rejects.toMatchObject({ code: "project_not_found" });
    });

    test("put() replaces a key only if told, and keeps the pinned host keys", async () => {
      const [id, other] = [await aKey("old"), await aKey("theirs")];
      await world().deployKeys.pinHostKey(id, hostKeyOf("git.example.com"));
      expect(await world().deployKeys.put(keyOf(id, 2), new Secret("new"))).toBe(false);
      expect(await world().deployKeys.find(id)).toMatchObject(keyOf(id));
      expect((await world().deployKeys.privateKey(id))!.reveal()).toBe("old");
      expect(await world().deployKeys.put(keyOf(id, 2), new Secret("new"), { replace: true })).toBe(true);
      expect(await world().deployKeys.find(id)).toMatchObject(keyOf(id, 2));
      expect((await world().deployKeys.privateKey(id))!.reveal()).toBe("new");
      expect(await hostKeys(id)).toEqual([hostKeyOf("git.example.com")]);
      expect((await world().deployKeys.privateKey(other))!.reveal()).toBe("theirs");
    });

    test("of concurrent put() calls, one stores its key", async () => {
      const { id } = await project();
      const outcomes = await Promise.all(
        [1, 2, 3, 4].map((count) => world().deployKeys.put(keyOf(id, count), new Secret(`secret ${count}`))),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = outcomes.indexOf(true) + 1;
      expect(await world().deployKeys.find(id)).toMatchObject(keyOf(id, winner));
      expect((await world().deployKeys.privateKey(id))!.reveal()).toBe(`secret ${winner}`);
    });

    test("remove() removes a key with the pinned host keys, once", async () => {
      const id = await aKey();
      await world().deployKeys.pinHostKey(id, hostKeyOf("git.example.com"));
      const outcomes = await Promise.all([1, 2, 3].map(() => world().deployKeys.remove(id)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().deployKeys.find(id)).toBeUndefined();
      expect(await world().deployKeys.privateKey(id)).toBeUndefined();
      await world().deployKeys.put(keyOf(id), new Secret("x"));
      expect(await world().deployKeys.find(id)).toEqual({ ...keyOf(id), hostKeys: [] });
    });

    test("a removed project takes its key along", async () => {
      const { id, organizationId } = await project();
      await world().deployKeys.put(keyOf(id), new Secret("x"));
      await world().deployKeys.pinHostKey(id, hostKeyOf("git.example.com"));
      await world().projects.remove(organizationId, id);
      expect(await world().deployKeys.find(id)).toBeUndefined();
    });

    test("pinHostKey() keeps the first key of a host, and find() sorts them by host", async () => {
      const [id, other] = [await aKey(), await aKey()];
      const first = hostKeyOf("git.example.com");
      expect(await world().deployKeys.pinHostKey(id, first)).toEqual(first);
      expect(await world().deployKeys.pinHostKey(id, hostKeyOf("git.example.com", 2))).toEqual(first);
      const others = ["[::1]:2222", "a.example.com:2222"].map((host) => hostKeyOf(host, 3));
      for (const hostKey of others.toReversed()) await world().deployKeys.pinHostKey(id, hostKey);
      expect(await hostKeys(id)).toEqual([...others, first]);
      expect(await hostKeys(other)).toEqual([]);
    });

    test("concurrent pinHostKey() calls all return the same key", async () => {
      const id = await aKey();
      const keys = [1, 2, 3, 4].map((count) => hostKeyOf("git.example.com", count));
      const pinned = await Promise.all(keys.map((key) => world().deployKeys.pinHostKey(id, key)));
      const [kept] = await hostKeys(id);
      expect(keys).toContainEqual(kept!);
      for (const each of pinned) expect(each).toEqual(kept!);
    });

    test("forgetHostKey() unpins one host of one project, once", async () => {
      const [id, other] = [await aKey(), await aKey()];
      for (const each of [id, other]) await world().deployKeys.pinHostKey(each, hostKeyOf("git.example.com"));
      await world().deployKeys.pinHostKey(id, hostKeyOf("b.example.com"));
      expect(await world().deployKeys.forgetHostKey(id, "git.example.com")).toBe(true);
      expect(await world().deployKeys.forgetHostKey(id, "git.example.com")).toBe(false);
      expect(await hostKeys(id)).toEqual([hostKeyOf("b.example.com")]);
      expect(await hostKeys(other)).toHaveLength(1);
      const next = hostKeyOf("git.example.com", 2);
      expect(await world().deployKeys.pinHostKey(id, next)).toEqual(next);
    });
  });
}

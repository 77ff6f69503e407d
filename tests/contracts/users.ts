import { describe, expect, test } from "bun:test";
import { newId } from "../../domain/id.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, founderOf, minutes, uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

/** Contract tests for `Users` adapters. */
export function usersContract(
  name: string,
  open: () => Promise<WorldOf<"users" | "installation" | "invitations" | "organizations">>,
) {
  describe(`Users contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aUser(named: { readonly email?: string; readonly name?: string } = {}): Promise<string> {
      return aMember(world(), (await anOrganization(world())).id, { ...named, at: minutes(1) });
    }

    test("find() and findByEmail() return a user", async () => {
      const email = `ada-${uniqueLabel()}@example.com`;
      const id = await aUser({ email, name: "Ada Lovelace" });
      const expected = {
        id,
        email,
        name: "Ada Lovelace",
        founder: false,
        hasPassword: true,
        createdAt: minutes(1),
      };
      expect(await world().users.find(id)).toEqual(expected);
      expect(await world().users.findByEmail(email)).toEqual(expected);
    });

    test("find(), findByEmail(), passwordHash() and change() find nothing for an unknown user", async () => {
      const stranger = newId("usr");
      expect(await world().users.find(stranger)).toBeUndefined();
      expect(await world().users.findByEmail(`${uniqueLabel()}@example.com`)).toBeUndefined();
      expect(await world().users.passwordHash(stranger)).toBeUndefined();
      expect(await world().users.change(stranger, { name: "Unknown" })).toBeUndefined();
      expect(await world().users.find(stranger)).toBeUndefined();
    });

    test("findByEmail() treats wildcards literally", async () => {
      const label = uniqueLabel();
      await aUser({ email: `axb-${label}@example.com` });
      expect(await world().users.findByEmail(`a_b-${label}@example.com`)).toBeUndefined();
      expect(await world().users.findByEmail(`a%${label}@example.com`)).toBeUndefined();
    });

    test("passwordHash() is absent for a user without a password", async () => {
      const founder = await founderOf(world());
      expect(founder.hasPassword).toBe(false);
      expect(await world().users.passwordHash(founder.id)).toBeUndefined();
    });

    test("setPasswordHash() replaces the hash of that user only", async () => {
      const [id, other] = [await aUser(), await aUser()];
      const hash = "$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$aGFzaA";
      await world().users.setPasswordHash(id, hash);
      expect(await world().users.passwordHash(id)).toBe(hash);
      expect(await world().users.passwordHash(other)).toBe("hash");
      expect(await world().users.find(id)).toMatchObject({ hasPassword: true });
    });

    test.each(oddTexts)("change() stores the name %j and keeps the address", async (text) => {
      const id = await aUser();
      const before = (await world().users.find(id))!;
      expect(await world().users.change(id, { name: text })).toEqual({ ...before, name: text });
      expect(await world().users.find(id)).toEqual({ ...before, name: text });
    });

    test("change() moves a user to another address", async () => {
      const id = await aUser();
      const before = (await world().users.find(id))!;
      const email = `new-${uniqueLabel()}@example.com`;
      expect(await world().users.change(id, { email })).toEqual({ ...before, email });
      expect(await world().users.findByEmail(email)).toMatchObject({ id });
      expect(await world().users.findByEmail(before.email)).toBeUndefined();
    });

    test("change() to the current address of a user is no conflict", async () => {
      const id = await aUser();
      const { email } = (await world().users.find(id))!;
      expect(await world().users.change(id, { email, name: "Same" })).toMatchObject({ email, name: "Same" });
    });

    test("change() of nothing changes nothing", async () => {
      const id = await aUser();
      const before = await world().users.find(id);
      expect(await world().users.change(id, {})).toEqual(before!);
    });

    test("change() refuses the address of another user and then changes nothing", async () => {
      const [id, other] = [await aUser(), await aUser()];
      const before = await world().users.find(id);
      const { email } = (await world().users.find(other))!;
      await expect(world().users.change(id, { email, name: "Thief" })).rejects.toMatchObject({
        kind: "conflict",
        code: "email_taken",
      });
      expect(await world().users.find(id)).toEqual(before!);
    });

    test("concurrent change() calls assign an address exactly once", async () => {
      const ids = [await aUser(), await aUser(), await aUser()];
      const email = `wanted-${uniqueLabel()}@example.com`;
      const outcomes = await Promise.allSettled(ids.map((id) => world().users.change(id, { email })));
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toHaveLength(2);
      for (const { reason } of refused) expect(reason).toMatchObject({ kind: "conflict", code: "email_taken" });
    });
  });
}

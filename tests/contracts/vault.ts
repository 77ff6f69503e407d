import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { SealedPlace, Vault } from "../../ports/system/vault.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";

/** Vaults with different keys. */
export interface VaultWorld extends Partial<AsyncDisposable> {
  readonly vault: Vault;
  /** Encrypts with another key, and decrypts what `vault` encrypted. */
  readonly successor: Vault;
  /** Encrypts with another key, and knows no other. */
  readonly stranger: Vault;
}

const PLACE: SealedPlace = { table: "servers", row: "srv_1", field: "ssh_password" };
const OTHER_PLACES: readonly SealedPlace[] = [
  { ...PLACE, table: "variables" },
  { ...PLACE, row: "srv_2" },
  { ...PLACE, field: "ssh_private_key" },
  { table: "serverssrv", row: "_1", field: "ssh_password" },
  { table: "servers", row: "", field: "srv_1ssh_password" },
];
const UNREADABLE = { name: "Failure", kind: "unavailable", code: "secret_unreadable" };

/** Contract tests for `Vault` adapters, except for the encryption itself. */
export function vaultContract(name: string, open: () => Promise<VaultWorld>) {
  describe(`Vault contract: ${name}`, () => {
    const world = sharedWorld(open);

    test.each([...oddTexts, ""])("open() returns %j unchanged", async (text) => {
      const sealed = await world().vault.seal(new Secret(text), PLACE);
      expect((await world().vault.open(sealed, PLACE)).reveal()).toBe(text);
    });

    test("open() returns a long text unchanged", async () => {
      const text = oddTexts.join("").repeat(500);
      const sealed = await world().vault.seal(new Secret(text), PLACE);
      expect((await world().vault.open(sealed, PLACE)).reveal() === text).toBe(true);
    });

    test("seal() never returns the same text twice", async () => {
      const secret = new Secret("same");
      const sealed = await Promise.all(Array.from({ length: 200 }, () => world().vault.seal(secret, PLACE)));
      expect(new Set(sealed).size).toBe(200);
    });

    test("seal() writes the id of its key as the second part between dots", async () => {
      const sealed = await world().vault.seal(new Secret("x"), PLACE);
      expect(sealed.split(".")[1]).toBe(world().vault.keyId());
    });

    test("keyId() differs between keys and stays the same for one", async () => {
      const { vault, successor, stranger } = world();
      expect(new Set([vault.keyId(), successor.keyId(), stranger.keyId()]).size).toBe(3);
      expect(vault.keyId()).toBe(vault.keyId());
    });

    test.each(OTHER_PLACES)("open() refuses a text sealed for another place: %j", async (place) => {
      const sealed = await world().vault.seal(new Secret("x"), PLACE);
      await expect(world().vault.open(sealed, place)).rejects.toMatchObject(UNREADABLE);
    });

    test("open() refuses a text with any one character changed, added or missing", async () => {
      const sealed = await world().vault.seal(new Secret("secret"), PLACE);
      const changed = new Set([`${sealed}A`, `A${sealed}`, `${sealed}.`, `${sealed}.A`, `${sealed}=`, `${sealed} `]);
      for (let at = 0; at < sealed.length; at++) {
        const [head, tail] = [sealed.slice(0, at), sealed.slice(at + 1)];
        changed.add(head + tail);
        for (const letter of ["A", "B", "f", "0", "9", "_", ".", "="]) changed.add(head + letter + tail);
      }
      changed.delete(sealed);
      for (const text of changed) {
        const outcome = await world()
          .vault.open(text, PLACE)
          .catch((error: unknown) => error);
        expect(outcome, text).toMatchObject(UNREADABLE);
      }
    });

    test.each(["", ".", "...", "v1...", "plain text", "v1.x.y.z", ...oddTexts])(
      "open() refuses %j, which was never sealed",
      async (text) => {
        await expect(world().vault.open(text, PLACE)).rejects.toMatchObject(UNREADABLE);
      },
    );

    test("open() refuses a text of an unknown key, and reveals nothing of its content", async () => {
      const sealed = await world().vault.seal(new Secret("swordfish"), PLACE);
      const error = await world()
        .stranger.open(sealed, PLACE)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject(UNREADABLE);
      expect(Bun.inspect(error)).not.toContain("swordfish");
    });

    test("open() accepts texts of a former key, while seal() uses the current one", async () => {
      const { vault, successor } = world();
      const former = await vault.seal(new Secret("kept"), PLACE);
      expect((await successor.open(former, PLACE)).reveal()).toBe("kept");
      const present = await successor.seal(new Secret("new"), PLACE);
      expect((await successor.open(present, PLACE)).reveal()).toBe("new");
      await expect(vault.open(present, PLACE)).rejects.toMatchObject(UNREADABLE);
    });

    test("open() returns the value as a secret", async () => {
      const sealed = await world().vault.seal(new Secret("swordfish"), PLACE);
      expect(Bun.inspect(await world().vault.open(sealed, PLACE))).not.toContain("swordfish");
    });
  });
}

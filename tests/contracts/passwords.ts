import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { Passwords } from "../../ports/identity/passwords.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";

/** Contract tests for `Passwords` adapters, except for argon2id itself. */
export function passwordsContract(name: string, open: () => Promise<Passwords>) {
  describe(`Passwords contract: ${name}`, () => {
    test("verify() accepts the password of a hash, and no other", async () => {
      const passwords = await open();
      const hash = await passwords.hash(new Secret("correct horse"));
      expect(await passwords.verify(new Secret("correct horse"), hash)).toBe(true);
      for (const wrong of ["correct Horse", "correct horse ", "", "correct", hash]) {
        expect(await passwords.verify(new Secret(wrong), hash)).toBe(false);
      }
    });

    test("verify() compares odd and long passwords to the last character", async () => {
      const passwords = await open();
      const password = oddTexts.join("").slice(0, 199);
      const hash = await passwords.hash(new Secret(`${password}a`));
      expect(await passwords.verify(new Secret(`${password}a`), hash)).toBe(true);
      expect(await passwords.verify(new Secret(`${password}b`), hash)).toBe(false);
    });

    test("hash() differs with each call and does not contain the password", async () => {
      const passwords = await open();
      const secret = new Secret("swordfish-swordfish");
      const [first, second] = await Promise.all([passwords.hash(secret), passwords.hash(secret)]);
      expect(first).not.toBe(second);
      expect(first).not.toContain("swordfish");
      expect(await passwords.verify(secret, first)).toBe(true);
      expect(await passwords.verify(secret, second)).toBe(true);
    });

    test("verify() accepts nothing when there is no hash", async () => {
      const passwords = await open();
      for (const password of ["", "undefined", "anything"]) {
        expect(await passwords.verify(new Secret(password), undefined)).toBe(false);
      }
    });
  });
}

import { describe, expect, test } from "bun:test";
import { newKeyText } from "../../../adapters/crypto/keyring.ts";
import { ArgonPasswords } from "../../../adapters/crypto/passwords.ts";
import { Secret } from "../../../domain/secret.ts";
import { vaultOf } from "../../support/database/postgres_stores.ts";
import { passwordsContract } from "../../contracts/passwords.ts";
import { vaultContract } from "../../contracts/vault.ts";

const CHEAP = { memoryCost: 8, timeCost: 1 };
const PLACE = { table: "servers", row: "srv_1", field: "sealed_password" };

vaultContract("crypto", async () => {
  const [first, second] = [newKeyText(), newKeyText()];
  return { vault: await vaultOf(first), successor: await vaultOf(second, first), stranger: await vaultOf() };
});

passwordsContract("argon2id", async () => new ArgonPasswords(CHEAP));

describe("ArgonPasswords", () => {
  test("hash() is argon2id with 64 MiB", async () => {
    expect(await new ArgonPasswords().hash(new Secret("correct horse"))).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
  });

  test("hash() refuses an empty password", async () => {
    await expect(new ArgonPasswords().hash(new Secret(""))).rejects.toMatchObject({ code: "invalid_password" });
  });

  test("verify() treats a damaged hash as a wrong password", async () => {
    expect(await new ArgonPasswords(CHEAP).verify(new Secret("x"), "$argon2id$damaged")).toBe(false);
  });

  test("verify() refuses callers beyond the queue limit, and serves the accepted ones", async () => {
    const passwords = new ArgonPasswords(CHEAP);
    const hash = await passwords.hash(new Secret("x"));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, () => passwords.verify(new Secret("x"), hash)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(98);
    expect(refused[0]?.reason).toMatchObject({ kind: "unavailable", code: "passwords_busy" });
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value)).toHaveLength(202);
    expect(await passwords.verify(new Secret("x"), hash)).toBe(true);
  });
});

describe("CryptoVault", () => {
  test("seal() writes version, key, nonce and ciphertext, and hides the text", async () => {
    const vault = await vaultOf();
    const sealed = await vault.seal(new Secret("swordfish"), PLACE);
    expect(sealed).toMatch(/^v1\.[0-9a-f]{12}\.[\w-]{16}\.[\w-]{34}$/);
    expect(atob(sealed.split(".")[3]!.replaceAll("-", "+").replaceAll("_", "/"))).not.toContain("swordfish");
  });

  test("keyId() is the start of the SHA-256 of the key", async () => {
    const key = new Uint8Array(32).fill(7);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", key)).toHex();
    expect((await vaultOf(key.toBase64())).keyId()).toBe(digest.slice(0, 12));
  });
});

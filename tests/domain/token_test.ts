import { expect, test } from "bun:test";
import { fingerprint, newToken, randomText } from "../../domain/identity/token.ts";

test("newToken() is slp_ and 43 base64url characters", () => {
  for (let index = 0; index < 100; index++) expect(newToken()).toMatch(/^slp_[A-Za-z0-9_-]{43}$/);
});

test("randomText() has 256 bits and is never the same", () => {
  const texts = Array.from({ length: 1_000 }, randomText);
  expect(new Set(texts).size).toBe(1_000);
  for (const text of texts) expect(Uint8Array.fromBase64(text, { alphabet: "base64url" })).toHaveLength(32);
});

test("randomText() uses every bit", () => {
  const seen = new Uint8Array(32);
  for (let index = 0; index < 1_000; index++) {
    const bytes = Uint8Array.fromBase64(randomText(), { alphabet: "base64url" });
    for (const [at, byte] of bytes.entries()) seen[at]! |= byte;
  }
  expect([...seen]).toEqual(Array<number>(32).fill(255));
});

test("fingerprint() is the lower-case hexadecimal SHA-256", async () => {
  // Test vectors of FIPS 180-2.
  expect(fingerprint("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(fingerprint("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("fingerprint() reads text as UTF-8 and distinguishes normal forms", async () => {
  expect(fingerprint("é")).toBe(new Bun.CryptoHasher("sha256").update("é").digest("hex"));
  expect(fingerprint("e\u0301")).not.toBe(fingerprint("\u00e9"));
});

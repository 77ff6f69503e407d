import { expect, test } from "bun:test";
import { isSigned } from "../../domain/githost/webhook_signature.ts";
import { Secret } from "../../domain/secret.ts";

// From the git host's documentation.
const BODY = new TextEncoder().encode("Hello, World!");
const SECRET = new Secret("It's a Secret to Everybody");
const SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

test("isSigned() accepts the published example", () => {
  expect(isSigned(BODY, SIGNATURE, SECRET)).toBe(true);
});

test.each([
  ["another body", new TextEncoder().encode("Hello, World?"), SIGNATURE, SECRET],
  ["another secret", BODY, SIGNATURE, new Secret("other")],
  ["an empty secret", BODY, `sha256=${new Bun.CryptoHasher("sha256", "").update(BODY).digest("hex")}`, new Secret("")],
  ["no signature", BODY, "", SECRET],
  ["another algorithm", BODY, SIGNATURE.replace("sha256", "sha1"), SECRET],
  ["a shortened signature", BODY, SIGNATURE.slice(0, -1), SECRET],
  ["capital letters", BODY, SIGNATURE.toUpperCase(), SECRET],
  ["a last digit that differs", BODY, `${SIGNATURE.slice(0, -1)}8`, SECRET],
  ["a first digit that differs", BODY, SIGNATURE.replace("=7", "=8"), SECRET],
])("isSigned() refuses %s", (_, body, header, secret) => {
  expect(isSigned(body, header, secret)).toBe(false);
});

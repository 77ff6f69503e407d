import { expect, test } from "bun:test";
import { systemUser } from "../../adapters/local/system_user.ts";

const asRoot = process.getuid?.() === 0;

test("systemUser() gives root a user of that name, the same each time, and others none", async () => {
  const [first, again] = [await systemUser("slipway")(), await systemUser("slipway")()];
  expect(again).toEqual(first);
  if (!asRoot) return expect(first).toBeUndefined();
  expect(first?.uid).toBeGreaterThan(0);
  expect(first?.gid).toBeGreaterThan(0);
});

test("systemUser() never gives root itself, nor a name that no user can have", async () => {
  const nobody = await systemUser("nobody")();
  for (const name of ["root", "-x", "a:b", "with space"]) expect(await systemUser(name)()).toEqual(nobody);
});

import { expect, test } from "bun:test";
import { systemUser } from "../../../adapters/local/system_user.ts";

const asRoot = process.getuid?.() === 0;

test("systemUser() gives root a user of that name, the same each time, and others none", async () => {
  const [first, again] = [await systemUser("slipway")(), await systemUser("slipway")()];
  expect(again).toEqual(first);
  if (!asRoot) return expect(first).toBeUndefined();
  expect(first?.uid).toBeGreaterThan(0);
  expect(first?.gid).toBeGreaterThan(0);
});

test("systemUser() gives all who ask at once the same user, also the first time", async () => {
  if (!asRoot) return;
  const name = `slipway-test-${process.pid}`;
  try {
    const users = await Promise.all(Array.from({ length: 5 }, () => systemUser(name)()));
    expect(new Set(users.map((user) => user?.uid)).size).toBe(1);
    expect(users[0]).not.toEqual(await systemUser("nobody")());
  } finally {
    await Bun.spawn(["userdel", name], { stdio: ["ignore", "ignore", "ignore"] }).exited;
  }
});

test("systemUser() never gives root itself, nor a name that no user can have", async () => {
  const nobody = await systemUser("nobody")();
  for (const name of ["root", "-x", "a:b", "with space"]) expect(await systemUser(name)()).toEqual(nobody);
});

import { expect, test } from "bun:test";
import { systemUser } from "../../../adapters/local/system_user.ts";

const asRoot = process.getuid?.() === 0;

test("systemUser() returns the same user of that name each time when run as root, else none", async () => {
  const [first, again] = [await systemUser("slipway")(), await systemUser("slipway")()];
  expect(again).toEqual(first);
  if (!asRoot) return expect(first).toBeUndefined();
  expect(first?.uid).toBeGreaterThan(0);
  expect(first?.gid).toBeGreaterThan(0);
});

test("concurrent systemUser() calls return the same user, even the first time", async () => {
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

test("systemUser() never returns root itself, nor a user with an invalid name", async () => {
  const nobody = await systemUser("nobody")();
  for (const name of ["root", "-x", "a:b", "with space"]) expect(await systemUser(name)()).toEqual(nobody);
});

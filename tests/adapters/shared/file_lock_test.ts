import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdFile, waitForFile } from "../../../adapters/shared/file_lock.ts";

async function place() {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  return { folder, path: join(folder, "lock"), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

test("holdFile() locks a file exclusively, and locks nothing in a missing folder", async () => {
  await using at = await place();
  const held = holdFile(at.path);
  expect(held).toBeDefined();
  expect(holdFile(at.path)).toBeUndefined();
  held![Symbol.dispose]();
  using again = holdFile(at.path);
  expect(again).toBeDefined();
  expect(holdFile(join(at.folder, "gone/lock"))).toBeUndefined();
});

test("waitForFile() waits until the lock is released", async () => {
  await using at = await place();
  const held = holdFile(at.path)!;
  const order: string[] = [];
  const waiting = waitForFile(at.path).then((own) => {
    order.push("held");
    return own;
  });
  await Bun.sleep(50);
  order.push("given back");
  held[Symbol.dispose]();
  using own = await waiting;
  expect([order, own !== undefined, holdFile(at.path)]).toEqual([["given back", "held"], true, undefined]);
});

test("waitForFile() proceeds without the lock after its time limit", async () => {
  await using at = await place();
  using held = holdFile(at.path);
  const without = await waitForFile(at.path, { limitMs: 30 });
  expect([held === undefined, without === undefined]).toEqual([false, false]);
  without![Symbol.dispose]();
  expect(holdFile(at.path)).toBeUndefined();
  expect(await waitForFile(join(at.folder, "gone/lock"))).toBeUndefined();
});

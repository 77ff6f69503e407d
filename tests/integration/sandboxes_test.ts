import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseSandbox } from "../../adapters/process/choose_sandbox.ts";
import { SANDBOX_KINDS } from "../../adapters/process/sandbox.ts";
import { workingSandboxes } from "../support/apps/process_world.ts";

const isRoot = process.getuid?.() === 0;

async function noUser(): Promise<undefined> {}

// The runtime and builder tests run in all working sandboxes: none may be missing unnoticed.
test("every sandbox that this user may use works", async () => {
  const usable = SANDBOX_KINDS.filter((kind) => isRoot || kind !== "namespaces");
  expect(await workingSandboxes()).toEqual(usable);
});

test("chooseSandbox() returns the first allowed one that works, and says what to do when none does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  try {
    expect((await chooseSandbox({ folder, user: noUser })).sandbox.kind).toBe("bubblewrap");
    // Without another user, there is none to create namespaces for.
    expect((await chooseSandbox({ folder, user: noUser, kinds: ["namespaces", "plain"] })).sandbox.kind).toBe("plain");
    const refused = await chooseSandbox({ folder, user: noUser, kinds: ["namespaces"] }).catch((error: Error) => error);
    expect(refused).toMatchObject({ code: "no_sandbox", message: expect.stringContaining("install bubblewrap") });
  } finally {
    await rm(folder, { recursive: true });
  }
});

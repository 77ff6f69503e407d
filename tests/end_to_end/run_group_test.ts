import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { type GroupResult, runGroup } from "../support/runner/run_group.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

async function resultOf(files: Readonly<Record<string, string>>, timeout = 30_000): Promise<GroupResult> {
  for (const [name, source] of Object.entries(files)) {
    await writeFile(join(folder, name), `import { describe, expect, test } from "bun:test";\n${source}`);
  }
  const group = { name: "sample", files: Object.keys(files), kind: "fast" as const };
  return runGroup(group, { folder, timeout, signal: new AbortController().signal, output: "ignore" });
}

const good = `test("good", () => expect(1).toBe(1));`;

test("runGroup() counts passed, failed and skipped tests", async () => {
  const bad = `test("bad", () => expect(1).toBe(2));`;
  const result = await resultOf({ "one_test.ts": `${good}${bad}test.skip("later", () => {});`, "two_test.ts": good });
  expect(result).toMatchObject({ passed: 2, failed: 1, skipped: 1 });
});

test("runGroup() reports what failed, where and why", async () => {
  const bad = `describe("<them>", () => {\n  test("bad & worse", () => expect("a").toBe("b"));\n});`;
  const slow = `test("slow", () => Bun.sleep(5_000), 20);`;
  const { failures } = await resultOf({
    "one_test.ts": `${good}${bad}${slow}`,
    "broken_test.ts": `import "./nowhere.ts";`,
  });
  expect(failures).toEqual([
    { file: "one_test.ts", line: 3, name: "<them> > bad & worse", message: expect.stringContaining('Expected: "b"') },
    { file: "one_test.ts", line: 4, name: "slow", message: "test timed out" },
    { file: "broken_test.ts", line: undefined, name: "sample", message: "This file reported no result" },
  ]);
});

test("runGroup() counts a file that does not load as failed", async () => {
  const result = await resultOf({ "one_test.ts": good, "broken_test.ts": `import "./nowhere.ts";` });
  expect(result).toMatchObject({ passed: 1, failed: 1, skipped: 0 });
});

test("runGroup() counts a crash as failed", async () => {
  const result = await resultOf({ "crash_test.ts": `test("dies", () => process.kill(process.pid, "SIGKILL"));` });
  expect(result).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
});

test("runGroup() ends tests that never end, and what they started", async () => {
  const note = join(folder, "pid");
  const start = `require("node:fs").writeFileSync(${JSON.stringify(note)}, String(Bun.spawn(["sleep", "60"]).pid));`;
  const result = await resultOf({ "endless_test.ts": `test("hangs", () => { ${start} for (;;); });` }, 2_000);
  expect(result).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
  const started = await readFile(note, "utf8");
  await eventually(
    async () => existsSync(`/proc/${started}/exe`),
    (runs) => !runs,
  );
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runGroup, type TestCount } from "../support/run_group.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

async function countOf(files: Readonly<Record<string, string>>, timeout = 30_000): Promise<TestCount> {
  for (const [name, source] of Object.entries(files)) {
    await writeFile(join(folder, name), `import { expect, test } from "bun:test";\n${source}`);
  }
  const group = { name: "sample", files: Object.keys(files), needsServers: false };
  return runGroup(group, { folder, timeout, signal: new AbortController().signal, output: "ignore" });
}

const good = `test("good", () => expect(1).toBe(1));`;

test("runGroup() counts passed, failed and skipped tests", async () => {
  const bad = `test("bad", () => expect(1).toBe(2));`;
  const count = await countOf({ "one_test.ts": `${good}${bad}test.skip("later", () => {});`, "two_test.ts": good });
  expect(count).toEqual({ passed: 2, failed: 1, skipped: 1 });
});

test("runGroup() counts a file that does not load as failed", async () => {
  const count = await countOf({ "one_test.ts": good, "broken_test.ts": `import "./nowhere.ts";` });
  expect(count).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test("runGroup() counts a crash as failed", async () => {
  const count = await countOf({ "crash_test.ts": `test("dies", () => process.kill(process.pid, "SIGKILL"));` });
  expect(count).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("runGroup() ends tests that never end, and what they started", async () => {
  const note = join(folder, "pid");
  const start = `require("node:fs").writeFileSync(${JSON.stringify(note)}, String(Bun.spawn(["sleep", "60"]).pid));`;
  const count = await countOf({ "endless_test.ts": `test("hangs", () => { ${start} for (;;); });` }, 2_000);
  expect(count).toEqual({ passed: 0, failed: 1, skipped: 0 });
  const started = await readFile(note, "utf8");
  for (let tries = 0; tries < 200 && existsSync(`/proc/${started}/exe`); tries++) await Bun.sleep(20);
  expect(existsSync(`/proc/${started}/exe`)).toBe(false);
});

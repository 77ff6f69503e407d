import { expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { halfUpload } from "../support/servers/half_upload.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** A server in which signals trigger faults. */
function start(url: string): Promise<SlipwayProcess> {
  const preload = join(import.meta.dir, "../support/faults/faults_on_signal.ts");
  return SlipwayProcess.start({ DATABASE_URL: url, BUN_OPTIONS: `--preload ${preload}` });
}

/** Waits for a log line that contains a text, and parses it. */
async function logged(slipway: SlipwayProcess, text: string): Promise<Record<string, string>> {
  const stderr = await eventually(
    async () => slipway.program.stderr,
    (all) => all.includes(text),
  );
  const line = stderr.split("\n").find((each) => each.includes(text));
  expect(line).toBeDefined();
  return JSON.parse(line!);
}

test("an unhandled rejection is logged, and the server keeps running", async () => {
  await using database = await testDatabase();
  await using slipway = await start(database.url);
  slipway.program.signal("SIGUSR2");
  expect(await logged(slipway, "an unhandled rejection")).toMatchObject({
    level: "error",
    error: "an unhandled rejection",
    cause: "Error: a deep cause",
    stack: expect.stringContaining("faults_on_signal.ts"),
  });
  expect((await slipway.call("GET", "/api/auth/me", { token: slipway.owner })).status).toBe(200);
  slipway.program.signal("SIGUSR2");
  expect(await slipway.stop()).toMatchObject({ code: 0, signal: null });
});

test("an uncaught exception is logged, running requests finish, and the server exits with a code", async () => {
  await using database = await testDatabase();
  await using slipway = await start(database.url);
  const upload = await halfUpload(slipway);
  slipway.program.signal("SIGUSR1");
  expect(await logged(slipway, "an uncaught exception")).toMatchObject({
    level: "error",
    error: "an uncaught exception",
    stack: expect.stringContaining("faults_on_signal.ts"),
  });
  expect(await upload.finish()).toMatchObject({ status: 200, body: { success: true } });
  expect(await slipway.program.ended).toMatchObject({ code: 1, signal: null });
});

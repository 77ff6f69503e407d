import { expect, test } from "bun:test";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** The note in the output of a program between its exit and its restart. */
const NOTE = /^The program ended with code 3, next try in [\d.]+ s$/;

/** A server that logs what it does, including its last output on SIGTERM. */
const PRINTING = `
  for (let line = 1; line <= 2_500; line++) console.log("line", line);
  process.on("SIGTERM", async () => {
    console.log("asked to stop");
    await Bun.sleep(200);
    process.stdout.write("done");
    process.exit(0);
  });
  Bun.serve({ port: process.env.PORT, fetch: () => new Response("one") });
`;
/** A server that takes longer to stop than its grace period. */
const STAYING = `
  console.log("up");
  process.on("SIGTERM", () => console.log("asked to stop"));
  Bun.serve({ port: process.env.PORT, fetch: () => new Response("one") });
`;
const FAILING = `console.error("no luck"); process.exit(3)`;
const NEXT = `console.log("next"); Bun.serve({ port: process.env.PORT, fetch: () => new Response("two") })`;

const PRINTED = [...Array.from({ length: 2_500 }, (_, index) => `line ${index + 1}`), "asked to stop", "done"];

interface Page {
  readonly data: readonly { readonly seq: number; readonly message: string }[];
  readonly nextSince: number;
}

async function page(project: TestProject, id: string, since: number): Promise<Page> {
  const path = `/api/deployments/${id}/logs?kind=runtime&since=${since}&limit=1000`;
  return (await project.call("GET", path)).body;
}

/** Resolves once nothing is left of a deployment but its recorded output. */
async function gone(project: TestProject, id: string): Promise<void> {
  const left = await eventually(
    async () => (await project.call("GET", `/api/deployments/${id}/info`)).body.data.services,
    ({ length }) => length === 0,
  );
  expect(left).toEqual([]);
}

test.concurrent("the output of replaced and failed releases is available on every server, and after a restart", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of({ "server.js": PRINTING });
  const settings = { DATABASE_URL: database.url, SLIPWAY_DATA: place.data, SLIPWAY_ADMIN_TOKEN: newToken() };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  const onA = await TestProject.create(a, {
    name: "printing",
    localPath: source.path,
    startCommand: "bun server.js",
  });
  const onB = onA.on(b);
  const first = await onA.deployed();
  expect(await onA.page()).toBe("one");
  const seen = [...(await page(onA, first, 0)).data];
  await source.write({ "server.js": FAILING });
  const failed = await onB.deploy();
  expect(await onB.settled(failed)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  await source.write({ "server.js": NEXT });
  await onB.deployed();
  // A reader that continues while it is replaced and removed gets every line exactly once.
  await eventually(
    async () => {
      const { data } = await page(onB, first, seen.at(-1)!.seq);
      seen.push(...data);
      return seen.at(-1)!.message;
    },
    (last) => last === "done",
  );
  expect(seen.map(({ message }) => message)).toEqual(PRINTED);
  await gone(onB, first);
  await a.stop();
  await a.start();
  for (const project of [onA, onB]) {
    expect((await project.log(first, "runtime")).split("\n")).toEqual([...PRINTED, ""]);
    const printed = (await project.log(failed, "runtime")).split("\n");
    expect(new Set(printed.filter((line) => !NOTE.test(line)))).toEqual(new Set(["no luck", ""]));
    expect(printed.filter((line) => NOTE.test(line)).length).toBeGreaterThanOrEqual(5);
    const { data } = await page(project, first, seen[2_400]!.seq);
    expect(data).toEqual(seen.slice(2_401));
  }
});

test.concurrent("a server that is killed while it stops a release leaves its output to the next one", async () => {
  await using source = await SourceFolder.of({ "server.js": STAYING });
  await using slipway = await SlipwayProcess.start();
  const project = await TestProject.create(slipway, {
    name: "staying",
    localPath: source.path,
    startCommand: "bun server.js",
  });
  const first = await project.deployed();
  await source.write({ "server.js": NEXT });
  await project.deployed();
  const log = await eventually(
    () => project.log(first, "runtime"),
    (text) => text.includes("asked to stop"),
  );
  expect(log).toBe("up\nasked to stop\n");
  await slipway.kill();
  await slipway.start();
  expect(await project.log(first, "runtime")).toBe(log);
  await gone(project, first);
  expect(await project.log(first, "runtime")).toBe(log);
});

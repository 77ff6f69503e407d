import { expect, test } from "bun:test";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { type SeenEvent, SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** A server that prints constantly, and logs SIGTERM. */
const TICKING = `
  let tick = 0;
  setInterval(() => { for (let line = 0; line < 20; line++) console.log("tick", ++tick); }, 20);
  process.on("SIGTERM", () => { console.log("asked to stop"); process.exit(0); });
  Bun.serve({ port: process.env.PORT, fetch: () => new Response(process.env.COLOR) });
`;

/** Reads events until one satisfies. */
async function until(events: AsyncIterable<SeenEvent>, isLast: (event: SeenEvent) => boolean): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

test("the output of an app is followed from server to server, each line once, to its last line", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of({ "server.js": TICKING });
  const settings = { DATABASE_URL: database.url, SLIPWAY_DATA: place.data, SLIPWAY_ADMIN_TOKEN: newToken() };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  const onA = await TestProject.create(a, {
    name: "Ticking",
    localPath: source.path,
    startCommand: "bun server.js",
    runtime: "process",
  });
  const onB = onA.on(b);
  const color = (value: string) =>
    onA.call("PATCH", `/api/projects/${onA.id}/env`, { body: { upserts: [{ key: "COLOR", value }] } });
  await color("blue");
  const id = await onA.deployed();

  const seen: SeenEvent[] = [];
  for (const project of [onA, onB, onA, onB]) {
    const since = seen.at(-1)?.seq ?? 0;
    seen.push(...(await until(project.output(id, since), ({ seq }) => seq >= since + 500)));
  }
  const whole = until(onB.output(id), ({ type }) => type === "end");
  const rest = until(onA.output(id, seen.at(-1)!.seq), ({ type }) => type === "end");
  const preview = await onA.deployed(await onA.deploy({ environment: "preview" }));
  await color("green");
  const promoted = await onA.deployed(await onA.again(preview, "promote"));
  expect(await onA.get(promoted)).toMatchObject({ active: true, environment: "production" });
  expect(await onA.page()).toBe("green");

  const all = [...seen, ...(await rest)];
  const lines = all.slice(0, -1);
  expect(all.at(-1)).toMatchObject({ type: "end", status: "ready", seq: lines.at(-1)!.seq });
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
  expect(lines.map(({ message }) => message)).toEqual([
    ...lines.slice(1).map((_, index) => `tick ${index + 1}`),
    "asked to stop",
  ]);
  expect(await whole).toEqual(all);
  expect(await until(onB.output(id, lines.length), () => true)).toEqual([]);
});

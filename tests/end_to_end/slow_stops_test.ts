import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** So many that stopping them one by one would exceed the idle timeout of a connection. */
const WORKERS = 7;
const FILES = {
  "server.js": `const id = "run " + crypto.randomUUID();
require("node:http").createServer((_, answer) => answer.end(id)).listen(process.env.PORT);`,
  "web.sh": "trap '' TERM\nbun server.js &\nwhile :; do wait; done\n",
  "worker.sh": "trap '' TERM\nwhile :; do sleep 1; done\n",
};
const SERVICES = [
  { name: "web", startCommand: "sh web.sh", ports: [3000] },
  ...Array.from({ length: WORKERS }, (_, index) => ({ name: `worker-${index}`, startCommand: "sh worker.sh" })),
];

/** The instances in a data folder. */
function instancesIn(folder: string): readonly string[] {
  return readdirSync(join(folder, "instances")).filter((name) => !name.startsWith("."));
}

test("many services that ignore the stop signal are restarted and removed within one request, on every server", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of(FILES);
  const settings = {
    DATABASE_URL: database.url,
    SLIPWAY_DATA: place.data,
    SLIPWAY_ADMIN_TOKEN: newToken(),
    SLIPWAY_RUNTIME: "process",
  };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  const body = { name: "stubborn", localPath: source.path, services: SERVICES, publicEndpoints: [{ service: "web" }] };
  const project = await TestProject.create(a, body);
  const live = await project.deployed();
  const onBoth = () => Promise.all([a, b].map((slipway) => project.on(slipway).page()));
  const [before] = await eventually(onBoth, ([one, other]) => one === other && one!.startsWith("run "));

  const restarted = await project.call("POST", `/api/deployments/${live}/restart`);
  expect(restarted).toMatchObject({ status: 200, body: { message: `Restarted ${WORKERS + 1} services` } });
  await eventually(onBoth, (pages) => pages.every((page) => page.startsWith("run ") && page !== before));

  const removed = await project.call("DELETE", `/api/projects/${project.id}`);
  expect(removed).toMatchObject({ status: 200, body: { success: true } });
  const answers = await Promise.all([a, b].map((slipway) => slipway.visit(project.hostname)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(instancesIn(place.data)).toEqual([]);
});

test("a deleted project is served by no server after the response, files included", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of({ "index.html": "hello" });
  const settings = { DATABASE_URL: database.url, SLIPWAY_DATA: place.data, SLIPWAY_ADMIN_TOKEN: newToken() };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  for (let round = 0; round < 10; round++) {
    const project = await TestProject.create(a, { name: `site-${round}`, localPath: source.path });
    await project.deployed();
    await eventually(
      () => project.on(b).page(),
      (page) => page === "hello",
    );
    const removed = await project.call("DELETE", `/api/projects/${project.id}`);
    const { status } = await b.visit(project.hostname);
    expect([removed.status, status]).toEqual([200, 404]);
  }
});

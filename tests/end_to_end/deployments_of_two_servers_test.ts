import { expect, test } from "bun:test";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

const PROJECTS = 20;
const ROUNDS = 5;

/** The page of a project from each of these servers. */
async function pages(project: TestProject, servers: readonly SlipwayProcess[]): Promise<string[]> {
  return Promise.all(servers.map((slipway) => project.on(slipway).page()));
}

test("100 deployments of 20 projects by two servers, one killed in the middle: each once, in order, the last one live", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of({ README: "A site that is made by its build" });
  const settings = {
    DATABASE_URL: database.url,
    SLIPWAY_DATA: place.data,
    SLIPWAY_ADMIN_TOKEN: newToken(),
    BUILD_CONCURRENCY: "4",
  };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  const projects = await Promise.all(
    Array.from({ length: PROJECTS }, (_, index) =>
      TestProject.create(index % 2 ? a : b, {
        name: `site-${index}`,
        localPath: source.path,
        projectType: "static",
        buildCommand: 'echo made; sleep 0.1; echo "$ROUND" >index.html',
      }),
    ),
  );
  const made = await Promise.all(
    projects.map(async (project) => {
      const ids: string[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        const on = project.on(round % 2 ? a : b);
        const body = { upserts: [{ key: "ROUND", value: `round ${round}` }] };
        await on.call("PATCH", `/api/projects/${project.id}/env`, { body });
        ids.push(await on.deploy());
      }
      return ids;
    }),
  );
  const all = made.flatMap((ids, index) => ids.map((id) => ({ id, project: projects[index]!.on(b) })));
  const statuses = () => Promise.all(all.map(async ({ id, project }) => (await project.get(id)).status as string));
  await eventually(statuses, (seen) => seen.filter((status) => status === "ready").length >= 30);
  await a.kill();
  const running = (await statuses()).map((status) => status === "building" || status === "deploying");
  expect(running).toContain(true);
  // One after the other: a hundred that ask at once would keep the server from deploying.
  const settled = [];
  for (const { id, project } of all) settled.push(await project.settled(id));
  expect(settled.map(({ status }) => status)).toEqual(all.map(() => "ready"));
  for (const [index, { id, project }] of all.entries()) {
    const log = await project.log(id);
    const times = log.split("\n").filter((line) => line === "made").length;
    if (running[index]) expect(times).toBeLessThanOrEqual(2);
    else expect({ id, times, log }).toMatchObject({ id, times: 1 });
    const events = await Array.fromAsync(project.events(id));
    expect(events.filter(({ type }) => type === "end")).toHaveLength(1);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  }
  for (const [index, project] of projects.entries()) {
    const own = settled.filter(({ projectId }) => projectId === project.id);
    expect(own.map(({ id, version }) => ({ id, version }))).toEqual(
      made[index]!.map((id, at) => ({ id, version: at + 1 })),
    );
    for (const [at, next] of own.slice(1).entries()) expect(own[at].finishedAt <= next.startedAt).toBe(true);
  }
  await a.start();
  for (const project of projects) {
    const last = `round ${ROUNDS}\n`;
    expect(await pages(project, [a, b])).toEqual([last, last]);
  }
  const [first] = projects;
  const latest = await first!.on(a).call("PATCH", `/api/projects/${first!.id}/env`, {
    body: { upserts: [{ key: "ROUND", value: "after" }] },
  });
  expect(latest.status).toBe(200);
  await first!.on(a).deployed();
  const both = await eventually(
    () => pages(first!, [a, b]),
    (seen) => seen.every((page) => page === "after\n"),
  );
  expect(both).toEqual(["after\n", "after\n"]);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { query } from "../support/database/query.ts";
import { SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** An app that responds with a text. */
function app(answer: string, build = "true"): Readonly<Record<string, string>> {
  return {
    "build.sh": build,
    "server.js": `Bun.serve({ port: process.env.PORT, fetch: () => new Response(${JSON.stringify(answer)}) })`,
  };
}

/** A build that takes some seconds and fails the first time. */
function firstFailing() {
  /** The last stage of each build, by a unique name. */
  const builds = new Map<string, string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname, search } = new URL(url);
      builds.set(search, pathname);
      const [first] = builds.keys();
      return new Response("", { status: pathname === "/end" && search === first ? 500 : 200 });
    },
  });
  const ask = (path: string) =>
    `bun -e 'process.exit((await fetch("${server.url}${path}?" + process.env.BUILD)).ok ? 0 : 1)'`;
  return {
    command: `export BUILD=$(cat /proc/sys/kernel/random/uuid); ${ask("begin")}; sleep 4; exec ${ask("end")}`,
    stages: () => [...builds.values()],
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Two servers on one database and data folder. The second is started on demand. */
async function pair() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const { data } = opened.use(await temporaryPlace());
  const settings = { DATABASE_URL: url, SLIPWAY_DATA: data, SLIPWAY_ADMIN_TOKEN: newToken() };
  const a = opened.use(await SlipwayProcess.start(settings));
  const b = opened.use(await SlipwayProcess.prepare(settings));
  const lifetime = opened.move();
  return { url, data, a, b, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** Everything below a folder, with modification times. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const entries = names.map(async (name) => `${name} ${(await stat(join(folder, name))).mtimeMs}`);
  return (await Promise.all(entries)).toSorted();
}

describe("a server that is paused for longer than its lease", () => {
  let servers: Awaited<ReturnType<typeof pair>>;
  beforeAll(async () => {
    servers = await pair();
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  /** The complete state of a deployment: stored data, instances and files. */
  async function seen(project: TestProject, id: string) {
    const { data, url } = servers;
    const own = (await readdir(join(data, "instances"))).filter((name) => name.startsWith(id)).toSorted();
    return {
      deployment: await project.get(id),
      row: await query(
        url,
        `select status, attempts, lease_owner, last_seq, record from deployments where id = '${id}'`,
      ),
      live: await query(url, `select active_deployment_id from projects where id = '${project.id}'`),
      instances: (await project.call("GET", `/api/deployments/${id}/info`)).body,
      own,
      files: await filesIn(join(data, "releases", id)),
    };
  }

  test.each([
    { step: "build", where: "a build that has failed in the meantime" },
    { step: "switch", where: "the switch" },
  ])("changes nothing that another server finished, resumed in $where", async ({ step }) => {
    const { a, b } = servers;
    await using build = firstFailing();
    await using source = await SourceFolder.of(app("first"));
    const project = await TestProject.create(a, {
      name: `paused-${step}`,
      localPath: source.path,
      buildCommand: "sh build.sh",
      startCommand: "bun server.js",
    });
    await project.deployed();
    expect(await project.page()).toBe("first");
    await source.write(app("second", step === "build" ? build.command : "true"));
    const id = await project.deploy();
    await project.reached(id, step);
    if (step === "build") await eventually(async () => build.stages().length, Boolean);
    a.program.signal("SIGSTOP");
    try {
      await b.start();
      const there = project.on(b);
      expect(await there.settled(id)).toMatchObject({ status: "ready", error: null });
      expect(await there.page()).toBe("second");
      // The former release is removed once its last requests have finished.
      const before = await eventually(
        () => seen(there, id),
        ({ own, row }) => own.length === 1 && row[0]!["lease_owner"] === null,
      );
      expect(before).toMatchObject({ row: [{ attempts: 2 }], live: [{ active_deployment_id: id }] });
      // The build of the paused server continued without it, and has failed by now.
      const ended = step === "build" ? ["/end", "/end"] : [];
      expect(
        await eventually(
          async () => build.stages(),
          (stages) => stages.every((stage) => stage === "/end"),
        ),
      ).toEqual(ended);
      a.program.signal("SIGCONT");
      const lost = (text: string) =>
        text.split("\n").some((line) => line.includes("is left to another process") && line.includes(id));
      expect(lost(await eventually(async () => a.program.stderr, lost))).toBe(true);
      expect(await seen(there, id)).toEqual(before);
      const pages = await eventually(
        async () => [await project.page(), await there.page()],
        (all) => all.every((page) => page === "second"),
      );
      expect(pages).toEqual(["second", "second"]);
    } finally {
      a.program.signal("SIGCONT");
      await b.stop();
    }
    await source.write(app("third"));
    await project.deployed();
    expect(await project.page()).toBe("third");
  });
});

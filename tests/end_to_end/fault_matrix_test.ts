import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { STEPS } from "../../domain/deployment/deployment.ts";
import { newToken } from "../../domain/token.ts";
import { TestProject } from "../support/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { GitServer } from "../support/git_server.ts";
import { commandLineOf, processesWith } from "../support/processes_with.ts";
import { versionedApp } from "../support/slow_app.ts";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { inTurns, stepBegins, STRIKE_AFTER_MS } from "../support/struck_deployments.ts";
import { tcpGate } from "../support/tcp_gate.ts";
import { testDatabase } from "../support/test_database.ts";
import { Visitor } from "../support/visitor.ts";

setDefaultTimeout(400_000);

const AWAY_MS = 5_000;
const RESUMED_MS = 15_000;
const AT_ONCE = 6;

/** A server whose way to the database can be watched and cut. */
async function faultyServer(git: GitServer) {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const gate = opened.use(await tcpGate(Number(new URL(url).port)));
  const slipway = opened.use(
    await SlipwayProcess.start({
      DATABASE_URL: Object.assign(new URL(url), { port: String(gate.port) }).href,
      SLIPWAY_ADMIN_TOKEN: newToken(),
      SLIPWAY_RUNTIME: "process",
      GITHOST_WEB_URL: `http://127.0.0.1:${git.port}`,
      BUILD_CONCURRENCY: "20",
    }),
  );
  const lifetime = opened.move();
  return { gate, slipway, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

const inTurn = inTurns(AT_ONCE);

describe("a deployment struck at any step", () => {
  let git: GitServer;
  const slow = new Set<string>();

  beforeAll(async () => {
    git = await GitServer.start();
    git.intercept = async ({ url, method }) => {
      if (method === "POST" && [...slow].some((name) => url.includes(name))) await Bun.sleep(800);
      return undefined;
    };
  });
  afterAll(() => git[Symbol.asyncDispose]());

  /** A project whose first version is live, with a second, slow one held back. */
  async function prepared(slipway: SlipwayProcess, name: string) {
    const repository = await git.repository(`acme/${name}`);
    await repository.commit(versionedApp("v1", { slow: false }));
    const project = await TestProject.create(slipway, {
      name,
      gitOwner: "acme",
      gitRepo: name,
      buildCommand: `sh build.sh ${name}-build`,
      startCommand: `bun server.js ${name}-app`,
      projectType: "app",
    });
    await project.deployed();
    expect(await project.page()).toBe("v1");
    await repository.commit(versionedApp("v2", { slow: true }));
    slow.add(name);
    const id = await project.deploy({ start: false });
    return { name, repository, project, id, release: () => project.call("POST", `/api/deployments/${id}/build`) };
  }

  type Prepared = Awaited<ReturnType<typeof prepared>>;

  /** Nothing of it is left but what serves; and the next deployment works. */
  async function expectClean({ name, repository, project, id }: Prepared, page: "v1" | "v2"): Promise<void> {
    expect(await project.page()).toBe(page);
    const apps = () => processesWith(`${name}-app`).filter((pid) => commandLineOf(pid).startsWith("bun\0"));
    const left = await eventually(
      async () => ({ apps: apps().length, builds: processesWith(`${name}-build`) }),
      (found) => found.apps === 1 && found.builds.length === 0,
    );
    expect(left).toEqual({ apps: 1, builds: [] });
    const { folder } = project.slipway;
    const entries = ["releases", "instances"].flatMap((where) => readdirSync(join(folder, where)));
    const own = entries.filter((entry) => entry.includes(id));
    if (page === "v1") expect(own).toEqual([]);
    else expect(own).toHaveLength(2);
    slow.delete(name);
    await repository.commit(versionedApp("v3", { slow: false }));
    await project.deployed();
    expect(await project.page()).toBe("v3");
  }

  for (const step of STEPS) {
    test.concurrent(
      `killed with its server in "${step}", it goes on after the restart`,
      inTurn(async () => {
        await using server = await faultyServer(git);
        const { gate, slipway } = server;
        const work = await prepared(slipway, `kill-${step}`);
        const visitor = new Visitor(slipway, work.project.hostname);
        const begins = stepBegins(gate, work.id, step);
        await work.release();
        await begins;
        await Bun.sleep(STRIKE_AFTER_MS[step]);
        visitor.pause();
        await slipway.kill();
        await slipway.start();
        visitor.goOn();
        const seen = async () => (await work.project.call("GET", `/api/deployments/${work.id}/build`)).body.data;
        const { lastSeq } = await seen();
        const since = Date.now();
        while ((await seen()).lastSeq === lastSeq && (await seen()).status !== "ready") {
          if (Date.now() - since > RESUMED_MS) throw new Error(await work.project.log(work.id));
          await Bun.sleep(50);
        }
        await work.project.deployed(work.id);
        await visitor.stop();
        expect(visitor.failures).toEqual([]);
        expect(visitor.wentBack).toEqual([]);
        await expectClean(work, "v2");
      }),
    );

    test.concurrent(
      `without the database for five seconds from "${step}" on, it goes on`,
      inTurn(async () => {
        await using server = await faultyServer(git);
        const { gate, slipway } = server;
        const work = await prepared(slipway, `away-${step}`);
        const visitor = new Visitor(slipway, work.project.hostname);
        const begins = stepBegins(gate, work.id, step);
        await work.release();
        await begins;
        await Bun.sleep(STRIKE_AFTER_MS[step]);
        await gate.shut();
        await Bun.sleep(AWAY_MS);
        await gate.open();
        await work.project.deployed(work.id);
        await visitor.stop();
        expect(visitor.failures).toEqual([]);
        expect(visitor.wentBack).toEqual([]);
        await expectClean(work, "v2");
      }),
    );
  }

  test.concurrent(
    "cancelled in any step, it is cancelled, or it was too late and it is live",
    inTurn(async () => {
      await using server = await faultyServer(git);
      const { gate, slipway } = server;
      await Promise.all(
        STEPS.map(async (step) => {
          const work = await prepared(slipway, `cancel-${step}`);
          const visitor = new Visitor(slipway, work.project.hostname);
          const begins = stepBegins(gate, work.id, step);
          await work.release();
          await begins;
          await Bun.sleep(STRIKE_AFTER_MS[step]);
          const answer = await work.project.call("POST", `/api/deployments/${work.id}/cancel`);
          const { status } = await work.project.settled(work.id);
          await visitor.stop();
          expect(visitor.failures).toEqual([]);
          const tooLate = step === "retire" || step === "clean";
          if (tooLate && status === "ready") expect(answer.status).toBe(400);
          else expect({ step, status, answer: answer.status }).toEqual({ step, status: "cancelled", answer: 200 });
          await expectClean(work, status === "ready" ? "v2" : "v1");
        }),
      );
    }),
  );
});

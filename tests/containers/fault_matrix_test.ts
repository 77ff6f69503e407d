import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { STEPS } from "../../domain/deployment/deployment.ts";
import { containerApp } from "../support/container_app.ts";
import { TestProject } from "../support/deploying.ts";
import { type DockerServer, dockerServer } from "../support/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { GitServer } from "../support/git_server.ts";
import { processesWith } from "../support/processes_with.ts";
import { inTurns, stepBegins, STRIKE_AFTER_MS } from "../support/struck_deployments.ts";
import { Visitor } from "../support/visitor.ts";

setDefaultTimeout(400_000);

const AWAY_MS = 5_000;
const RESUMED_MS = 15_000;
const inTurn = inTurns(5);
const label = (what: string) => ["--filter", `label=slipway.${what}`, "--quiet"];

describe("a deployment in containers struck at any step", () => {
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

  const server = () =>
    dockerServer({ GITHOST_WEB_URL: `http://127.0.0.1:${git.port}`, BUILD_CONCURRENCY: "20", ROLLBACK_WINDOW: "0" });

  /** A project whose first version is live, with a second, slow one held back. */
  async function prepared({ slipway }: DockerServer, name: string) {
    const repository = await git.repository(`acme/${name}`);
    await repository.commit(containerApp("v1", { name }));
    const project = await TestProject.create(slipway, { name, gitOwner: "acme", gitRepo: name });
    await project.deployed();
    expect(await project.page()).toBe("v1");
    await repository.commit(containerApp("v2", { slow: true, name }));
    slow.add(name);
    const id = await project.deploy({ start: false });
    return { name, repository, project, id, release: () => project.call("POST", `/api/deployments/${id}/build`) };
  }

  type Prepared = Awaited<ReturnType<typeof prepared>>;

  /** Nothing of it is left on the engine but what serves, and the next deployment works. */
  async function expectClean({ docker }: DockerServer, work: Prepared, page: "v1" | "v2"): Promise<void> {
    const { name, repository, project, id } = work;
    expect(await project.page()).toBe(page);
    const live = (await project.call("GET", `/api/projects/${project.id}`)).body.data.activeDeploymentId as string;
    const left = await eventually(
      async () => ({
        all: (await docker("ps", "--all", ...label(`project=${project.id}`))).length,
        live: (await docker("ps", ...label(`deployment=${live}`))).length,
        images: new Set(await docker("images", ...label(`project=${project.id}`))).size,
        builds: processesWith(`${name}-build`),
      }),
      (found) => found.all === 1 && found.images === 1 && found.builds.length === 0,
      60_000,
    );
    expect(left).toEqual({ all: 1, live: 1, images: 1, builds: [] });
    const own = readdirSync(join(project.slipway.folder, "releases")).filter((entry) => entry.includes(id));
    expect(own).toHaveLength(page === "v1" ? 0 : 1);
    slow.delete(name);
    await repository.commit(containerApp("v3", { name }));
    await project.deployed();
    expect(await project.page()).toBe("v3");
  }

  for (const step of STEPS) {
    test.concurrent(
      `killed with its server in "${step}", it goes on after the restart`,
      inTurn(async () => {
        await using struck = await server();
        const { gate, slipway } = struck;
        const work = await prepared(struck, `dkill-${step}`);
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
        await expectClean(struck, work, "v2");
      }),
    );
  }

  for (const steps of [STEPS.slice(0, 4), STEPS.slice(4)]) {
    test.concurrent(
      `without the database for five seconds from ${steps.join(", ")} on, it goes on`,
      inTurn(async () => {
        await using struck = await server();
        const { gate, slipway } = struck;
        const works = await Promise.all(steps.map((step) => prepared(struck, `daway-${step}`)));
        for (const [index, step] of steps.entries()) {
          const work = works[index]!;
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
        }
        await Promise.all(works.map((work) => expectClean(struck, work, "v2")));
      }),
    );
  }

  test.concurrent(
    "cancelled in any step, it is cancelled, or it was too late and it is live",
    inTurn(async () => {
      await using struck = await server();
      const { gate, slipway } = struck;
      await Promise.all(
        STEPS.map(async (step) => {
          const work = await prepared(struck, `dcancel-${step}`);
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
          await expectClean(struck, work, status === "ready" ? "v2" : "v1");
        }),
      );
    }),
  );
});

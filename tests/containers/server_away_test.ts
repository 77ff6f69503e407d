import { afterAll, beforeAll, expect, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import type { ManagedServer } from "../support/peers/managed_server.ts";
import {
  type SlipwayWithServer,
  slipwayWithServer,
  tinyApp,
  whenPage,
} from "../support/servers/slipway_with_server.ts";

let world: SlipwayWithServer;
beforeAll(async () => {
  world = await slipwayWithServer();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

interface Outage {
  readonly name: string;
  strike(server: ManagedServer): Promise<void>;
  mend(server: ManagedServer): Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  { name: "whose engine is stopped", strike: (server) => server.stopEngine(), mend: (server) => server.startEngine() },
  { name: "without power", strike: (server) => server.kill(), mend: (server) => server.start() },
];

/** A project that is live on the server as `v1`, and one that runs as a process of this machine. */
async function liveProjects() {
  await using opened = new AsyncDisposableStack();
  const source = opened.use(await SourceFolder.of(tinyApp("v1")));
  const plainSource = opened.use(await SourceFolder.example("bun-server"));
  const project = await world.project({ name: `away ${crypto.randomUUID()}`, localPath: source.path });
  const live = await world.deployedThere(project);
  const plain = await TestProject.create(world.slipway, {
    name: `plain ${crypto.randomUUID()}`,
    localPath: plainSource.path,
    runtime: "process",
  });
  await plain.deployed();
  const lifetime = opened.move();
  return {
    source,
    project,
    live,
    plain,
    async [Symbol.asyncDispose]() {
      for (const each of [project, plain]) await each.call("DELETE", `/api/projects/${each.id}`);
      await lifetime.disposeAsync();
    },
  };
}

/** Strikes the server in the middle of a build; resolves to the deployment once that has failed. */
async function failedBuild(project: TestProject, source: SourceFolder, strike: Outage["strike"]) {
  await source.write(tinyApp("v2", { slow: true }));
  const struck = await project.deploy();
  await project.reached(struck, "build");
  await strike(world.server);
  const failed = await project.settled(struck);
  expect(failed).toMatchObject({ status: "failed", error: { step: expect.any(String) } });
  expect(failed.error.message).toStartWith("Cannot ");
}

test.each(OUTAGES)(
  "a server $name: a deployment fails with a reason, nothing counts as stopped, others go on, and it recovers by itself",
  async ({ strike, mend }) => {
    await using scene = await liveProjects();
    const { live, plain, project, source } = scene;
    const before = (await project.get(live)).services;
    try {
      await failedBuild(project, source, strike);
      const refused = await project.settled(await project.deploy());
      expect(refused).toMatchObject({ status: "failed", error: { code: "engine_away" } });
      expect(refused.error.message).toStartWith("Cannot ");
      const shown = await project.call("GET", `/api/deployments/${live}/info`);
      expect([shown.status, shown.body.code]).toEqual([503, "engine_away"]);
      expect(await project.get(live)).toMatchObject({ status: "ready", active: true, services: before });
      expect((await world.slipway.visit(project.hostname)).status).toBeGreaterThanOrEqual(500);
      await plain.deployed(await plain.deploy());
      expect(await plain.page()).toStartWith("Hello");
    } finally {
      await mend(world.server);
    }
    expect(await whenPage(project, "v1")).toBe("v1");
    expect(await project.get(live)).toMatchObject({ status: "ready", active: true });
    await source.write(tinyApp("v3"));
    await project.deployed();
    expect(await project.page()).toBe("v3");
  },
);

// Each request to a server that hangs takes its whole timeout, so this asks for less than the others.
test("a server that hangs: a deployment fails with a reason, others are served, and it recovers by itself", async () => {
  await using scene = await liveProjects();
  const { live, plain, project, source } = scene;
  try {
    await failedBuild(project, source, (server) => server.pause());
    expect(await project.get(live)).toMatchObject({ status: "ready", active: true });
    expect(await plain.page()).toStartWith("Hello");
  } finally {
    await world.server.unpause();
  }
  expect(await whenPage(project, "v1")).toBe("v1");
  const shown = await project.call("GET", `/api/deployments/${live}/info`);
  expect(shown.body.data.services).toMatchObject([{ status: "running", restarts: 0 }]);
});

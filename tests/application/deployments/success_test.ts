import { expect, test } from "bun:test";
import {
  EngineScene,
  APP,
  BUILD,
  commit,
  INSTALL,
  REPOSITORY,
  SITE,
  START,
  eventSummary,
} from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";

const STEPS = ["fetch", "detect", "build", "start", "health", "switch", "retire", "clean"];

test("an app is fetched, detected, built, started, checked and given its traffic", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  const { id } = await scene.deploy(project);
  const ready = await scene.settled(id);
  expect(ready).toMatchObject({
    status: "ready",
    error: null,
    commitSha: "a1".padEnd(40, "0"),
    commitMessage: "Commit a1",
    artifactOf: id,
    artifactAvailable: true,
    urls: [`http://${project.slug}.localhost:4480`],
    attempts: 1,
  });
  expect(ready.services).toMatchObject([{ name: "app", status: "healthy", url: ready.urls[0]!, error: null }]);
  expect(ready.steps.map(({ name, status }) => `${name} ${status}`)).toEqual(STEPS.map((name) => `${name} done`));
  expect(scene.memory.builder.requests[0]!.commands.map(({ command }) => command)).toEqual([INSTALL, BUILD]);
  expect(ready.plan.startCommand).toBe(START);
  expect(scene.served(project)).toBe(id);
  expect(await scene.running()).toEqual([id]);
  const live = await scene.memory.liveReleases.find(project.id);
  expect(live?.deployment.id).toBe(id);
});

test("the events report every status and step in order, and finish with the end", async () => {
  await using scene = await EngineScene.open();
  const { id } = await scene.deployed(await scene.project());
  const events = await scene.events(id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(eventSummary(events)).toEqual([
    "status queued",
    "status building",
    "progress fetch",
    "progress detect",
    "progress build",
    "status deploying",
    "progress start",
    "service app starting",
    "progress health",
    "progress switch",
    "service app healthy",
    "progress retire",
    "progress clean",
    "status ready",
    "end ready",
  ]);
});

test("a static site is served from its folder and runs nothing", async () => {
  await using scene = await EngineScene.open();
  scene.known.git[REPOSITORY] = { commits: [commit("b1", SITE)] };
  const project = await scene.project();
  const ready = await scene.deployed(project);
  expect(ready.status).toBe("ready");
  expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/")?.target).toEqual({
    kind: "folder",
    path: `/releases/${ready.id}`,
  });
  expect(await scene.running()).toEqual([]);
});

test("a static site is served from the output folder of its build", async () => {
  await using scene = await EngineScene.open();
  scene.known.git[REPOSITORY] = { commits: [commit("b2", APP)] };
  scene.scriptBuild({
    effect: ({ folder }) => scene.memory.releaseFolders.write(folder, "dist/index.html", "<h1>Built</h1>"),
  });
  const project = await scene.project({ gitUrl: REPOSITORY, projectType: "static", outputDirectory: "dist" });
  const ready = await scene.deployed(project);
  expect([ready.status, ready.error]).toEqual(["ready", null]);
  expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/")?.target).toEqual({
    kind: "folder",
    path: `/releases/${ready.id}/dist`,
  });
});

test("a redeploy replaces the live release, which then stops", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  const first = await scene.deployed(project);
  const second = await scene.deployed(project);
  expect(second.version).toBe(first.version + 1);
  expect(scene.served(project)).toBe(second.id);
  const running = await eventually(
    () => scene.running(),
    ({ length }) => length === 1,
  );
  expect(running).toEqual([second.id]);
  expect(await scene.memory.deployments.get(first.id)).toMatchObject({ status: "ready", artifactAvailable: true });
});

test("a preview has an address of its own and leaves the live release alone", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  const live = await scene.deployed(project);
  const preview = await scene.deployed(project, { environment: "preview" });
  expect(preview.status).toBe("ready");
  const { hostname } = new URL(preview.urls[0]!);
  expect(hostname).not.toBe(`${project.slug}.localhost`);
  expect(scene.memory.edge.routeOf(hostname, "/")?.servedBy).toStartWith(preview.id);
  expect(scene.served(project)).toBe(live.id);
  expect((await scene.memory.liveReleases.find(project.id))?.deployment.id).toBe(live.id);
  expect((await scene.running()).toSorted()).toEqual([live.id, preview.id].toSorted());
});

test("an app that crashed once before it answered goes live", async () => {
  await using scene = await EngineScene.open();
  const { runtime } = scene.memory;
  const start = runtime.start.bind(runtime);
  runtime.start = async (request) => {
    await start(request);
    return runtime.restart(request.instanceId);
  };
  const ready = await scene.deployed(await scene.project());
  expect(ready.status).toBe("ready");
});

import { expect, test } from "bun:test";
import { sweepReleases } from "../../application/deployments/cleanup/sweep_releases.ts";
import { preparedAt, preparedFolder } from "../../domain/deployments/prepared_folder.ts";
import { EngineScene, START } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";

test("the sweep keeps what is live, kept, running or shared, and removes the rest", async () => {
  await using scene = await EngineScene.open({ engine: { rollbackWindow: 2 } });
  const project = await scene.project();
  const sweep = sweepReleases(scene.memory, 2);
  const first = await scene.deployed(project);
  scene.memory.clock.advance(1_000);
  await scene.deployed(project);
  scene.memory.clock.advance(1_000);
  const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
  scene.memory.clock.advance(1_000);
  const live = await scene.deployed(project);
  await scene.useCases.removeDeployment(scene.by, first.id);
  scene.scriptBuild({ hangs: true });
  const building = await scene.deploy(project);
  await scene.inStep(building.id, "build");
  const before = (await scene.folders()).toSorted();
  expect(before).toContain(first.id);
  await scene.memory.releaseFolders.make("dep_leftover");
  await sweep();
  expect((await scene.folders()).toSorted()).toEqual(before);
  expect(await scene.running()).toContain(live.id);
  await scene.useCases.cancelDeployment(scene.by, building.id);
  scene.memory.builder.scripts.clear();
  expect((await scene.settled((await scene.useCases.rollback(scene.by, back.id)).id)).status).toBe("ready");
});

test("the sweep keeps a shared folder of a project that serves nothing, too", async () => {
  await using scene = await EngineScene.open({ engine: { rollbackWindow: 2 } });
  const project = await scene.project();
  const sweep = sweepReleases(scene.memory, 2);
  const first = await scene.deployed(project);
  scene.memory.clock.advance(1_000);
  const second = await scene.deployed(project);
  scene.memory.clock.advance(1_000);
  const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
  scene.memory.clock.advance(1_000);
  const live = await scene.deployed(project);
  for (const { id } of [first, second, live]) await scene.useCases.removeDeployment(scene.by, id);
  await eventually(
    () => scene.running(),
    (running) => running.length === 0,
  );
  await scene.memory.releaseFolders.make("dep_leftover");
  await sweep();
  expect(await scene.folders()).toEqual([first.id]);
  expect((await scene.settled((await scene.useCases.rollback(scene.by, back.id)).id)).status).toBe("ready");
});

test("the sweep removes what a deleted deployment left running", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  const { id } = await scene.deployed(project);
  await scene.memory.projects.remove(project.organizationId, project.id);
  await sweepReleases(scene.memory, 2)();
  expect(await scene.running()).toEqual([]);
  expect(await scene.folders()).not.toContain(id);
});

test("the sweep removes the folders of sources that a killed server inspected, once no inspection can be running", async () => {
  await using scene = await EngineScene.open();
  const { clock, releaseFolders } = scene.memory;
  const sweep = sweepReleases(scene.memory, 2);
  // The naming scheme of earlier versions.
  const earlier = `prepare-${crypto.randomUUID()}`;
  await releaseFolders.make(earlier);
  const left = preparedFolder(clock.now());
  await releaseFolders.make(left);
  await sweep();
  expect(await scene.folders()).toEqual([left]);
  clock.advance(90 * 60_000);
  const looking = preparedFolder(clock.now());
  await releaseFolders.make(looking);
  await sweep();
  expect((await scene.folders()).toSorted()).toEqual([left, looking].toSorted());
  clock.advance(60 * 60_000);
  await sweep();
  expect(await scene.folders()).toEqual([looking]);
});

test("the folder of a source under inspection is known to the sweep, and removed afterwards", async () => {
  const made: string[] = [];
  await using scene = await EngineScene.open({
    replace: ({ releaseFolders }) => ({
      releaseFolders: intercepted(releaseFolders, "make", (goOn, [id]) => {
        made.push(id as string);
        return goOn();
      }),
    }),
  });
  const request = { source: "githost", owner: "acme", repo: "shop" } as const;
  await scene.useCases.prepareSource(scene.by, request, new AbortController().signal);
  expect(made.map((id) => preparedAt(id))).toEqual([scene.memory.clock.now()]);
  expect(await scene.folders()).toEqual([]);
});

test("the sweep removes at once what a killed server had stopped, and records its output", async () => {
  await using scene = await EngineScene.open();
  scene.memory.runtime.scripts.set(START, { does: "answers", prints: ["up"], lastWords: ["bye"] });
  const project = await scene.project();
  const first = await scene.deployed(project);
  const { promise: never } = Promise.withResolvers<void>();
  scene.memory.edge.drained = () => never;
  scene.memory.clock.advance(1_000);
  const second = await scene.deployed(project);
  const sweep = sweepReleases(scene.world, 2);
  await sweep();
  expect((await scene.running()).toSorted()).toEqual([first.id, second.id].toSorted());
  await scene.memory.runtime.stop(first.services[0]!.instanceId!);
  await sweep();
  expect(await scene.running()).toEqual([second.id]);
  const lines = await scene.useCases.readLogs(scene.by, first.id, { since: 0, limit: 10, kind: "runtime" });
  expect(lines.map(({ message }) => message)).toEqual(["up", "bye"]);
});

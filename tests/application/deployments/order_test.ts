import { expect, test } from "bun:test";
import { EngineScene } from "../../support/apps/engine_scene.ts";

test("runs one deployment of a project at a time, in order, and never more builds than allowed, over all processes", async () => {
  await using scene = await EngineScene.open({ maxBuilds: 3 });
  for (let count = 0; count < 2; count++) scene.work();
  let building = 0;
  let most = 0;
  const order = new Map<string, number[]>();
  const busy = new Set<string>();
  scene.scriptBuild({
    effect: async ({ deploymentId }) => {
      const { projectId, version } = (await scene.memory.deployments.get(deploymentId))!;
      expect(busy.has(projectId)).toBe(false);
      busy.add(projectId);
      most = Math.max(most, ++building);
      order.set(projectId, [...(order.get(projectId) ?? []), version]);
      await Bun.sleep(2);
      building--;
      busy.delete(projectId);
    },
  });
  const projects = await Promise.all(Array.from({ length: 5 }, () => scene.project()));
  const made = [];
  for (let round = 0; round < 3; round++) {
    scene.memory.clock.advance(1);
    for (const project of projects) made.push(await scene.deploy(project));
  }
  const ended = await Promise.all(made.map(({ id }) => scene.settled(id)));
  expect(new Set(ended.map(({ status, attempts }) => `${status} ${attempts}`))).toEqual(new Set(["ready 1"]));
  expect([...order.values()]).toEqual(projects.map(() => [1, 2, 3]));
  expect(most).toBe(3);
  for (const [index, project] of projects.entries()) expect(scene.served(project)).toBe(made.slice(-5)[index]!.id);
});

test("a stuck build holds up neither other projects nor, once cancelled, its own", async () => {
  await using scene = await EngineScene.open({ maxBuilds: 2 });
  scene.scriptBuild({ hangs: true });
  const project = await scene.project();
  const stuck = await scene.deploy(project);
  await scene.inStep(stuck.id, "build");
  scene.memory.builder.scripts.clear();
  expect((await scene.deployed(await scene.project())).status).toBe("ready");
  const waiting = await scene.deploy(project);
  expect((await scene.memory.deployments.get(waiting.id))?.status).toBe("queued");
  await scene.useCases.cancelDeployment(scene.by, stuck.id);
  expect((await scene.settled(waiting.id)).status).toBe("ready");
});

test("a queued deployment names the one that it waits for, until it is its turn", async () => {
  await using scene = await EngineScene.open({ maxBuilds: 1 });
  scene.scriptBuild({ hangs: true });
  const project = await scene.project();
  const first = await scene.deploy(project);
  await scene.inStep(first.id, "build");
  scene.memory.clock.advance(1);
  const second = await scene.deploy(project);
  scene.memory.clock.advance(1);
  const other = await scene.deploy(await scene.project());
  const held = await scene.deploy(project, { start: false });
  const view = async (id: string) => (await scene.useCases.viewDeployment(scene.by, id)).deployment.waitingFor;
  expect(await view(second.id)).toBe(first.id);
  expect(await view(other.id)).toBeNull();
  expect(await view(first.id)).toBeNull();
  expect(await view(held.id)).toBe(first.id);
  const { items } = await scene.useCases.viewDeployments(scene.by, { projectId: project.id }, { page: 1, perPage: 10 });
  expect(items.map(({ deployment }) => deployment.waitingFor)).toEqual([first.id, first.id, null]);
  scene.memory.builder.scripts.clear();
  await scene.useCases.cancelDeployment(scene.by, first.id);
  await scene.settled(second.id);
  expect(await view(second.id)).toBeNull();
});

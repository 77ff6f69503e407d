import { expect, test } from "bun:test";
import { ensureServices } from "../../../application/services/ensure_services.ts";
import { restoreReleases, reviveReleases } from "../../../application/deployments/restore_releases.ts";
import { Failure } from "../../../domain/failure.ts";
import { deployShop, SHOP, shopProject, shopScene, runningServices } from "../../support/apps/service_scene.ts";

test("ensureServices() starts nothing while the engine cannot list a running other version", async () => {
  await using scene = await shopScene();
  const { runtime } = scene.memory;
  const project = await shopProject(scene);
  const live = await deployShop(scene, project, SHOP);
  const { instanceId } = (await runningServices(scene, project))["db"]!;
  // The state that an aborted changeover leaves.
  await runtime.remove(instanceId);
  const former = runtime.started.find((request) => request.instanceId === instanceId)!;
  await runtime.start({ ...former, instanceId: `${live.id}-db-9-c` });
  const list = runtime.list.bind(runtime);
  runtime.list = async ({ all = false }: { readonly all?: boolean } = {}) => {
    if (all) throw new Failure("unavailable", "engine_away", "Cannot use Docker: it does not answer");
    return [];
  };
  expect(await ensureServices(scene.world, live).catch((error: Failure) => error.code)).toBe("engine_away");
  expect(await runtime.find(instanceId)).toBeUndefined();
  runtime.list = list;
  await ensureServices(scene.world, live);
  expect(await runtime.find(instanceId)).toBeDefined();
  expect(await runtime.find(`${live.id}-db-9-c`)).toBeUndefined();
});

test("ensureServices() restarts stopped services, each in a new container", async () => {
  await using scene = await shopScene();
  const { runtime } = scene.memory;
  const project = await shopProject(scene);
  const live = await deployShop(scene, project, SHOP);
  const before = await runningServices(scene, project);
  for (const name of ["web", "db"]) await runtime.stop(before[name]!.instanceId);
  const count = runtime.started.length;
  await ensureServices(scene.world, live);
  expect(
    runtime.started
      .slice(count)
      .map(({ service }) => service)
      .toSorted(),
  ).toEqual(["db", "web"]);
  const after = await runningServices(scene, project);
  for (const [name, { status, containerId }] of Object.entries(after)) {
    const isAnew = name === "web" || name === "db";
    expect([name, status, containerId === before[name]!.containerId]).toEqual([name, before[name]!.status, !isAnew]);
  }
});

test("ensureServices() leaves alone what another server has started in the meantime", async () => {
  await using scene = await shopScene();
  const { runtime } = scene.memory;
  const project = await shopProject(scene);
  const live = await deployShop(scene, project, SHOP);
  const { db } = await runningServices(scene, project);
  const request = runtime.started.find(({ instanceId }) => instanceId === db!.instanceId)!;
  await runtime.remove(db!.instanceId);
  const list = runtime.list.bind(runtime);
  runtime.list = async () => {
    runtime.list = list;
    await runtime.start(request);
    return list();
  };
  const count = runtime.started.length;
  await ensureServices(scene.world, live);
  expect(runtime.started.slice(count)).toEqual([request]);
  expect((await runningServices(scene, project))["db"]?.status).toBe("running");
});

test("reviveReleases() starts a service that was stopped from outside", async () => {
  await using scene = await shopScene();
  const project = await shopProject(scene);
  await deployShop(scene, project, SHOP);
  const { db } = await runningServices(scene, project);
  await scene.memory.runtime.stop(db!.instanceId);
  const restore = restoreReleases(scene.world);
  await reviveReleases(scene.world, restore)();
  expect((await runningServices(scene, project))["db"]).toMatchObject({ status: "running", exit: null });
});

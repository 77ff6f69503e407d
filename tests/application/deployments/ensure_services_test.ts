import { expect, test } from "bun:test";
import { ensureServices } from "../../../application/deployments/ensure_services.ts";
import { Failure } from "../../../domain/failure.ts";
import { deployShop, SHOP, shopProject, shopScene, standing } from "../../support/service_scene.ts";

test("ensureServices() starts nothing beside another version of it that an engine does not tell of", async () => {
  await using scene = await shopScene();
  const { runtime } = scene.memory;
  const project = await shopProject(scene);
  const live = await deployShop(scene, project, SHOP);
  const { instanceId } = (await standing(scene, project))["db"]!;
  // As a changeover that was broken off leaves it.
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

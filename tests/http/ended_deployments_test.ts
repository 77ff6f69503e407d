import { expect, test } from "bun:test";
import { deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD, START } from "../support/apps/engine_scene.ts";

test("pin is refused for a cancelled, failed or cleaned-up deployment; unpin never is", async () => {
  await using app = await deployingApp();
  const projectId = await app.project();
  const pin = async (id: string) => {
    const { status, body } = await app.post(`/${id}/pin`);
    return [status, body.code, body.error];
  };
  const held = await app.deploy(projectId, { start: false });
  expect((await app.post(`/${held}/pin`)).body.data.pinned).toBe(true);
  await app.post(`/${held}/cancel`);
  expect(await pin(held)).toEqual([
    400,
    "not_a_release",
    'Cannot pin this deployment: its status is "cancelled", so nothing of it is kept. Pin one that serves or served',
  ]);
  expect((await app.post(`/${held}/pin`, { pinned: false })).body.data.pinned).toBe(false);
  app.world.builder.scripts.set(BUILD, { exitCode: 2 });
  expect((await pin(await app.deployed(projectId))).slice(0, 2)).toEqual([400, "not_a_release"]);
  app.world.builder.scripts.clear();
  const [first, , , , last] = [
    await app.deployed(projectId),
    await app.deployed(projectId),
    await app.deployed(projectId),
    await app.deployed(projectId),
    await app.deployed(projectId),
  ];
  expect((await app.get(`/${first}`)).body.data).toMatchObject({ status: "ready", artifactAvailable: false });
  expect(await pin(first)).toEqual([
    400,
    "artifact_gone",
    "Cannot pin this deployment: its files were cleaned up. Redeploy it, and pin the new deployment",
  ]);
  expect((await pin(last))[0]).toBe(200);
});

test("a deployment that failed before it served has no address", async () => {
  await using app = await deployingApp();
  app.world.runtime.scripts.set(START, { does: "ends", code: 1 });
  const id = await app.deployed(await app.project());
  const { data } = (await app.get(`/${id}`)).body;
  expect(data).toMatchObject({ status: "failed", url: null, urls: [] });
  expect(data.services).toEqual([expect.objectContaining({ name: "app", status: "failed", url: null })]);
});

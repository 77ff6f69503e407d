import { expect, test } from "bun:test";
import { deployShop, shopProject, shopScene } from "../../support/service_scene.ts";

test("without a name the output of the service is shown that visitors get to", async () => {
  await using scene = await shopScene();
  const project = await shopProject(scene);
  scene.memory.runtime.scripts.set("service:web", { does: "answers", prints: ["for visitors"] });
  const { id } = await deployShop(scene, project, { db: "1", migrate: "1", worker: "1", api: "1", web: "1" });
  const lines = await scene.useCases.readLogs(scene.by, id, { since: 0, limit: 10, kind: "runtime" });
  expect(lines.map(({ message, service }) => [message, service])).toEqual([["for visitors", "web"]]);
});

import { expect, test } from "bun:test";
import { deployShop, SHOP, shopProject, shopScene } from "../../support/apps/service_scene.ts";

test("without a service name, the output of all services is shown, each line with its service", async () => {
  await using scene = await shopScene();
  const project = await shopProject(scene);
  const { scripts } = scene.memory.runtime;
  scripts.set("service:db", { does: "answers", prints: ["ready for orders"] });
  scripts.set("service:web", { does: "answers", prints: ["for visitors", "at last"] });
  const { id } = await deployShop(scene, project, SHOP);
  const lines = await scene.useCases.readLogs(scene.by, id, { since: 0, limit: 10, kind: "runtime" });
  expect(lines.map(({ message, service }) => [message, service]).toSorted()).toEqual([
    ["at last", "web"],
    ["for visitors", "web"],
    ["ready for orders", "db"],
  ]);
  const times = lines.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const paged = await scene.useCases.readLogs(scene.by, id, { since: lines[0]!.seq, limit: 1, kind: "runtime" });
  expect(paged).toEqual([lines[1]!]);
  const tail = { since: 0, limit: 1, tail: 2, kind: "runtime" } as const;
  expect(await scene.useCases.readLogs(scene.by, id, tail)).toEqual(lines.slice(-2));
  expect(await scene.useCases.readLogs(scene.by, id, { ...tail, since: lines[1]!.seq })).toEqual(lines.slice(-1));
  const named = { since: 1, limit: 10, kind: "runtime", service: "web" } as const;
  expect(await scene.useCases.readLogs(scene.by, id, named)).toMatchObject([{ seq: 2, message: "at last" }]);
  const text = await Array.fromAsync(await scene.useCases.downloadLogs(scene.by, id, { kind: "runtime" }));
  expect(text.join("")).toBe(lines.map(({ message, service }) => `${service} | ${message}\n`).join(""));
});

import { expect, test } from "bun:test";
import type { Instance } from "../../../ports/services/runtime.ts";
import { deployShop, SHOP, shopProject, shopScene, statuses } from "../../support/apps/service_scene.ts";

type Look = Pick<Instance, "restarts" | "status">;

/** Deploys a shop whose worker has a scripted status at each check. Each check takes `lookMs`. */
async function deployedWith(looks: (count: number) => Look, { lookMs = 0, healthMs = 60 }) {
  await using scene = await shopScene({ engine: { healthMs } });
  const { runtime } = scene.memory;
  const find = runtime.find.bind(runtime);
  let count = 0;
  runtime.find = async (instanceId) => {
    const found = await find(instanceId);
    if (found?.service !== "worker") return found;
    await Bun.sleep(lookMs);
    return { ...found, ...looks(count++) };
  };
  const deployment = await deployShop(scene, await shopProject(scene), SHOP);
  return { deployment, log: await scene.log(deployment.id) };
}

test("a service without visitors may end until its dependency is there, if it stays up then", async () => {
  const looks: readonly Look[] = [
    { status: "running", restarts: 0 },
    { status: "restarting", restarts: 1 },
    { status: "running", restarts: 1 },
    { status: "running", restarts: 2 },
  ];
  const { deployment, log } = await deployedWith((count) => looks[count] ?? looks.at(-1)!, { healthMs: 10_000 });
  expect(deployment.status).toBe("ready");
  expect(statuses(deployment)["worker"]).toBe("healthy");
  expect(log.filter((line) => line.startsWith("worker "))).toEqual(["worker was started", "worker is up"]);
});

test("a service in a crash loop is not up, however slowly the engine reports", async () => {
  const { deployment: held, log } = await deployedWith(
    (count) => {
      const restarts = Math.ceil(count / 2);
      return { status: count % 2 === 0 ? "running" : "restarting", restarts };
    },
    { lookMs: 10 },
  );
  expect(held.status).toBe("partial_failure");
  expect(held.services.find(({ name }) => name === "worker")).toMatchObject({
    status: "failed",
    error: "Cannot keep worker live: it did not stay up",
  });
  expect(log).toContain("worker was started");
  expect(log).toContain("db is up");
  expect(log).not.toContain("worker is up");
});

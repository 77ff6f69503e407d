import { describe, expect, test } from "bun:test";
import { followLiveReleases } from "../../../application/deployments/follow_live_releases.ts";
import {
  currentRoutes,
  retryRestore,
  restoreReleases,
  reviveReleases,
} from "../../../application/deployments/restore_releases.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { Failure } from "../../../domain/failure.ts";
import type { EdgeRoute } from "../../../ports/domains/edge.ts";
import { EngineScene, START } from "../../support/apps/engine_scene.ts";
import { deployShop, shopProject, shopScene, runningServices } from "../../support/apps/service_scene.ts";

const AWAY = new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");

/** A live release whose instance is gone, as after a reboot of the machine. */
async function afterPowerCut(scene: EngineScene) {
  const project = await scene.project();
  const live = await scene.deployed(project);
  const [service] = live.services;
  await scene.world.runtime.remove(service!.instanceId!, { graceMs: 0 });
  const routes = currentRoutes(scene.world, { baseDomain: "localhost" });
  return { live, project, routes, restore: restoreReleases(scene.world) };
}

describe("restoreReleases()", () => {
  test("starts what is live again and routes to it", async () => {
    await using scene = await EngineScene.open();
    const { live, restore, routes } = await afterPowerCut(scene);
    expect(await routes()).toMatchObject([{ servedBy: live.id, target: { kind: "starting" } }]);
    const back: string[] = [];
    expect(await restore({ back: async (key) => back.push(key) })).toEqual(new Set());
    expect(back).toEqual([live.projectId]);
    expect(await routes()).toMatchObject([{ servedBy: expect.stringContaining(live.id), target: { kind: "address" } }]);
  });

  test("reports each release as soon as it is back, independently of the others", async () => {
    await using scene = await EngineScene.open();
    const { live, restore } = await afterPowerCut(scene);
    const slow = await scene.deployed(await scene.project());
    const instanceId = slow.services[0]!.instanceId!;
    await scene.world.runtime.remove(instanceId, { graceMs: 0 });
    const { runtime } = scene.memory;
    const start = runtime.start.bind(runtime);
    const { promise: back, resolve: isBack } = Promise.withResolvers<string>();
    // This instance starts only after the other release is back.
    runtime.start = async (request) => {
      if (request.instanceId === instanceId) expect(await back).toBe(live.projectId);
      return start(request);
    };
    await restore({ back: async (key) => isBack(key) });
    expect((await scene.running()).toSorted()).toEqual([live.id, slow.id].toSorted());
  });

  test("does not wait for an app in a crash loop", async () => {
    await using scene = await EngineScene.open();
    const { live, restore } = await afterPowerCut(scene);
    scene.memory.runtime.scripts.set(START, { does: "ends", code: 1 });
    const back: string[] = [];
    await restore({ back: async (key) => back.push(key) });
    expect(back).toEqual([live.projectId]);
    expect(await scene.world.runtime.find(live.services[0]!.instanceId!)).toMatchObject({ failing: true });
  });

  test("an engine that does not answer does not delay the routes", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    scene.memory.runtime.find = () => new Promise(() => {});
    const routes = await currentRoutes(scene.world, { baseDomain: "localhost" })();
    expect(routes).toMatchObject([{ servedBy: live.id, target: { kind: "starting" } }]);
  });

  test("asks visitors to retry while the engine is unavailable, and retryRestore() restores the release", async () => {
    await using scene = await EngineScene.open();
    const { live, restore, routes } = await afterPowerCut(scene);
    const { runtime } = scene.memory;
    const start = runtime.start.bind(runtime);
    let attempts = 0;
    runtime.start = (request) => (attempts++ < 3 ? Promise.reject(AWAY) : start(request));
    const waiting = await restore();
    expect([...waiting]).toEqual([live.id]);
    const first = await routes();
    expect(first).toMatchObject([{ servedBy: live.id, target: { kind: "starting" } }]);
    await scene.memory.edge.switch(live.projectId, first);
    const follow = followLiveReleases(scene.memory, { baseDomain: "localhost" });
    let followed = 0;
    // The engine may become unavailable again before the edge has followed.
    const back = (key: string) => (followed++ === 0 ? Promise.reject(AWAY) : follow(key));
    await retryRestore(restore, waiting, { everyMs: 1, signal: new AbortController().signal, back });
    const [{ hostname }] = first as [EdgeRoute];
    expect(scene.memory.edge.routeOf(hostname, "/")).toMatchObject({
      servedBy: expect.stringContaining(live.id),
      target: { kind: "address" },
    });
    expect([attempts, followed]).toEqual([4, 2]);
  });

  test("retryRestore() returns when its server stops, and when nothing is left to restore", async () => {
    await using scene = await EngineScene.open();
    const { live, restore } = await afterPowerCut(scene);
    scene.memory.runtime.start = () => Promise.reject(AWAY);
    const options = { everyMs: 1, signal: AbortSignal.abort(), back: () => Promise.reject(new Error("Not expected")) };
    await retryRestore(restore, new Set([live.id]), options);
    await retryRestore(restore, new Set(), options);
  });

  test("continues with the others when one cannot be started, and reports it", async () => {
    await using scene = await EngineScene.open();
    const { live, restore, routes } = await afterPowerCut(scene);
    const other = await scene.deployed(await scene.project());
    const { runtime } = scene.memory;
    const start = runtime.start.bind(runtime);
    runtime.start = (request) =>
      request.deploymentId === live.id ? Promise.reject(new Error("no such program")) : start(request);
    expect(await restore()).toEqual(new Set());
    const found = new Map((await routes()).map(({ projectId, target }) => [projectId, target.kind]));
    expect(Object.fromEntries(found)).toEqual({ [live.projectId]: "starting", [other.projectId]: "address" });
    expect(JSON.stringify(scene.memory.log.lines)).toContain("no such program");
  });
});

describe("restoreReleases() of several services", () => {
  test("starts all that can be started and routes to them, whichever fails", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, { worker: "1", migrate: "1", db: "1", web: "1", api: "1" });
    for (const { instanceId } of await scene.memory.runtime.list()) await scene.memory.runtime.remove(instanceId);
    const { runtime } = scene.memory;
    const start = runtime.start.bind(runtime);
    runtime.start = (request) =>
      request.service === "worker" ? Promise.reject(new Error("no such program")) : start(request);
    await restoreReleases(scene.world)();
    const routes = await currentRoutes(scene.world, { baseDomain: "localhost" })();
    expect(routes.map(({ pathPrefix, target }) => [pathPrefix, target.kind])).toEqual([
      ["/", "address"],
      ["/api", "address"],
    ]);
    expect(Object.keys(await runningServices(scene, project)).toSorted()).toEqual(["api", "db", "web"]);
    expect(JSON.stringify(scene.memory.log.lines)).toContain("no such program");
  });
});

describe("reviveReleases()", () => {
  test("restarts what was removed from outside, notifies all edges, and leaves the rest alone", async () => {
    await using scene = await EngineScene.open();
    const { live, restore } = await afterPowerCut(scene);
    await scene.deployed(await scene.project());
    const announced: (string | null)[] = [];
    scene.world.liveReleases.onChange((key) => void announced.push(key));
    const before = await scene.running();
    const revive = reviveReleases(scene.world, restore);
    await revive();
    expect(announced).toEqual([live.projectId]);
    expect((await scene.running()).toSorted()).toEqual([...before, live.id].toSorted());
    await revive();
    expect(announced).toHaveLength(1);
  });

  test("starts nothing while the engine is unavailable", async () => {
    await using scene = await EngineScene.open();
    const { restore } = await afterPowerCut(scene);
    scene.memory.runtime.start = () => Promise.reject(AWAY);
    await reviveReleases(scene.world, restore)();
    expect(await scene.running()).toEqual([]);
  });

  test("leaves alone what a deployment or a decision may have stopped", async () => {
    await using scene = await EngineScene.open();
    const { live, project, restore } = await afterPowerCut(scene);
    await scene.rest();
    const change = (id: string, changed: Partial<Deployment>) =>
      scene.world.deployments.change(id, (deployment) => ({ deployment: { ...deployment, ...changed }, events: [] }));
    const revive = reviveReleases(scene.world, restore);
    await change(live.id, { pendingDecision: "reject" });
    await revive();
    expect(await scene.running()).toEqual([]);
    await change(live.id, { pendingDecision: null });
    const next = await scene.deploy(project);
    await change(next.id, { status: "deploying" });
    await revive();
    expect(await scene.running()).toEqual([]);
    await change(next.id, { status: "failed" });
    await revive();
    expect(await scene.running()).toEqual([live.id]);
  });
});

import { describe, expect, test } from "bun:test";
import { OutageWatch } from "../../../application/services/outage_watch.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { shownService } from "../../../domain/deployments/shown_service.ts";
import type { Deployments } from "../../../ports/deployments/deployments.ts";
import { EngineScene, START, eventSummary } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";

const DOWN = /^It ended with code 7 and is restarted automatically, next try at \d{4}-\d\d-\d\dT/;

function watched(scene: EngineScene, { steadyMs = 0, lookMs = { least: 5, most: 20 } } = {}): OutageWatch {
  return new OutageWatch({ ...scene.world, instanceEndings: scene.memory.runtime }, { steadyMs, lookMs });
}

/** Puts the program of a live release into a crash loop. */
async function endIt(scene: EngineScene, { services }: Deployment): Promise<string> {
  const { instanceId } = services[0]!;
  scene.memory.runtime.scripts.set(START, { does: "ends", code: 7 });
  await scene.memory.runtime.restart(instanceId!);
  return instanceId!;
}

async function bringItBack(scene: EngineScene, instanceId: string): Promise<void> {
  scene.memory.runtime.scripts.delete(START);
  await scene.memory.runtime.restart(instanceId);
}

const isDown = ({ services }: Deployment) => services[0]?.outage !== undefined;
const isUp = (deployment: Deployment) => !isDown(deployment);

describe("OutageWatch", () => {
  test("records that a live service ended and that it is back, and the deployment stays ready", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    await using _ = watched(scene);
    const instanceId = await endIt(scene, live);
    const down = await scene.until(live.id, isDown);
    expect(down).toMatchObject({ status: "ready", services: [{ status: "healthy", error: null }] });
    expect(down.services[0]!.outage).toMatch(DOWN);
    await bringItBack(scene, instanceId);
    expect(await scene.until(live.id, isUp)).toEqual(live);
    expect(eventSummary(await scene.events(live.id)).slice(-4)).toEqual([
      "service app failed",
      "end ready",
      "service app healthy",
      "end ready",
    ]);
  });

  test("reports an outage although another change of the deployment came first", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    const { deployments } = scene.memory;
    const change: Deployments["change"] = (id, how) =>
      deployments.change(id, (deployment) => {
        how(deployment);
        return how(deployment);
      });
    const contended = new Proxy(deployments, {
      get: (target, name) => (name === "change" ? change : Reflect.get(target, name, target).bind(target)),
    });
    const ports = { ...scene.world, deployments: contended, instanceEndings: scene.memory.runtime };
    await using _ = new OutageWatch(ports, { steadyMs: 0, lookMs: { least: 5, most: 20 } });
    await endIt(scene, live);
    await scene.until(live.id, isDown);
    expect(eventSummary(await scene.events(live.id)).slice(-2)).toEqual(["service app failed", "end ready"]);
  });

  test("finds changes that were not reported, down or up", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    const instanceId = await endIt(scene, live);
    {
      await using watch = watched(scene);
      await watch.lookAtAll();
      expect(isDown((await scene.memory.deployments.get(live.id))!)).toBe(true);
    }
    await bringItBack(scene, instanceId);
    await using watch = watched(scene);
    await watch.lookAtAll();
    await scene.until(live.id, isUp);
  });

  test("treats one in a crash loop as back only once it has stayed up", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    {
      await using watch = watched(scene, { steadyMs: 600_000, lookMs: { least: 60_000, most: 60_000 } });
      const instanceId = await endIt(scene, live);
      await scene.until(live.id, isDown);
      scene.memory.runtime.scripts.delete(START);
      // Often enough for a crash loop.
      for (let run = 0; run < 5; run++) await scene.memory.runtime.restart(instanceId);
      await watch.lookAtAll();
      expect(isDown((await scene.memory.deployments.get(live.id))!)).toBe(true);
    }
    await using watch = watched(scene);
    await watch.lookAtAll();
    await scene.until(live.id, isUp);
  });

  test("reports one that flaps at most every minute, and one that stays down after that", async () => {
    await using scene = await EngineScene.open();
    const live = await scene.deployed(await scene.project());
    await using _ = watched(scene);
    for (let run = 0; run < 3; run++) {
      const instanceId = await endIt(scene, live);
      await scene.until(live.id, isDown);
      await bringItBack(scene, instanceId);
      await scene.until(live.id, isUp);
    }
    const services = () =>
      scene.events(live.id).then((events) => eventSummary(events).filter((each) => each.startsWith("service")));
    expect((await services()).slice(-2)).toEqual(["service app failed", "service app healthy"]);
    const before = (await services()).length;
    await endIt(scene, live);
    await scene.until(live.id, isDown);
    expect(await services()).toHaveLength(before);
    scene.memory.clock.advance(61_000);
    await endIt(scene, live);
    await eventually(services, ({ length }) => length === before + 1);
  });

  test("ignores a release that was replaced while it was down", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const former = await scene.deployed(project);
    await using _ = watched(scene);
    await endIt(scene, former);
    await scene.until(former.id, isDown);
    const view = async () =>
      shownService((await scene.useCases.viewDeployment(scene.by, former.id)).deployment.services[0]!);
    expect(await view()).toMatchObject({ status: "failed", error: expect.stringMatching(DOWN) });
    scene.memory.runtime.scripts.delete(START);
    expect((await scene.deployed(project)).status).toBe("ready");
    expect(await view()).toMatchObject({ status: "stopped", error: null });
  });

  test("reports nothing about stopped services and replaced releases", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const former = await scene.deployed(project);
    await using watch = watched(scene);
    const live = await scene.deployed(project);
    await scene.memory.runtime.stop(live.services[0]!.instanceId!);
    await watch.lookAtAll();
    for (const { id } of [former, live]) {
      expect((await scene.memory.deployments.get(id))!.services[0]).not.toHaveProperty("outage");
    }
  });
});

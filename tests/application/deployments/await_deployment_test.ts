import { describe, expect, test } from "bun:test";
import { awaitDeployment } from "../../../application/deployments/await_deployment.ts";
import { keepDeployment, rejectDeployment } from "../../../application/deployments/decide_deployment.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { EngineScene } from "../../support/apps/engine_scene.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import { deployShop, SHOP, shopProject, shopScene } from "../../support/apps/service_scene.ts";

const LONG_MS = 60_000;

/** A deployment that awaits a decision, in a scene without a worker. */
async function undecided(scene: EngineScene): Promise<Deployment> {
  const project = await shopProject(scene);
  await deployShop(scene, project, SHOP);
  const held = await deployShop(scene, project, { ...SHOP, worker: "bad" });
  await scene.rest();
  return held;
}

describe("awaitDeployment()", () => {
  test("reads the deployment once at first, then once per relevant event", async () => {
    let looked = 0;
    await using scene = await EngineScene.open({
      replace: ({ deployments }) => ({
        deployments: intercepted(deployments, "get", (goOn) => {
          looked++;
          return goOn();
        }),
      }),
    });
    const { id } = await scene.deploy(await scene.project(), { start: false });
    const ports = { deployments: scene.world.deployments, deploymentEvents: scene.memory.deploymentEvents };
    const waiting = awaitDeployment(ports, id, {
      until: ({ status }) => status === "cancelled",
      limitMs: LONG_MS,
    });
    const store = (change: Partial<Deployment>, events: Parameters<typeof scene.memory.deploymentEvents.append>[1]) =>
      scene.memory.deployments.change(id, (stored) => ({ deployment: { ...stored, ...change }, events }));
    const line = { type: "log", at: new Date(), level: "info", step: null, service: null, stream: "slipway" } as const;
    for (let count = 0; count < 20; count++) await store({}, [{ ...line, message: `${count}` }]);
    await store({ pinned: true }, [{ type: "status", status: "queued", decision: null }]);
    await Bun.sleep(200);
    expect(looked).toBe(2);
    await store({ status: "cancelled" }, [{ type: "end", status: "cancelled", decision: null, error: null }]);
    expect((await waiting)?.status).toBe("cancelled");
    expect(looked).toBe(3);
  });

  test("returns at once when the condition holds already, and `undefined` once the deployment is removed", async () => {
    await using scene = await EngineScene.open();
    const { id, organizationId } = await scene.deploy(await scene.project(), { start: false });
    const options = { limitMs: LONG_MS };
    expect((await awaitDeployment(scene.memory, id, { ...options, until: () => true }))?.id).toBe(id);
    const waiting = awaitDeployment(scene.memory, id, { ...options, until: () => false });
    await scene.memory.deployments.remove(organizationId, id);
    expect(await waiting).toBeUndefined();
  });

  test("returns the current state when its time limit is over", async () => {
    await using scene = await EngineScene.open();
    const { id } = await scene.deploy(await scene.project(), { start: false });
    expect(await awaitDeployment(scene.memory, id, { until: () => false, limitMs: 20 })).toMatchObject({ id });
  });

  test("rejects with the abort reason of its signal", async () => {
    await using scene = await EngineScene.open();
    const { id } = await scene.deploy(await scene.project(), { start: false });
    const left = new AbortController();
    const waiting = awaitDeployment(scene.memory, id, { until: () => false, limitMs: LONG_MS, signal: left.signal });
    const reason = new Error("gone");
    left.abort(reason);
    expect(await waiting.catch((error: unknown) => error)).toBe(reason);
  });
});

describe("a caller that disconnects in the middle of a decision", () => {
  test.each(["keep", "reject"] as const)("does not stop it: %s is carried out all the same", async (what) => {
    await using scene = await shopScene();
    const { id } = await undecided(scene);
    const left = new AbortController();
    const { keepDeployment: keep, rejectDeployment: reject } = scene.useCases;
    const deciding = (what === "keep" ? keep : reject)(scene.by, id, left.signal).catch((error: unknown) => error);
    await scene.until(id, ({ pendingDecision }) => pendingDecision === what);
    const reason = new Error("gone");
    left.abort(reason);
    expect(await deciding).toBe(reason);
    scene.work();
    const settled = await scene.until(id, ({ pendingDecision }) => pendingDecision === null);
    expect(settled.decision).toBe(what === "keep" ? "kept" : "rejected");
  });

  test("does not stop a cancellation either", async () => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ hangs: true });
    const { id } = await scene.deploy(await scene.project());
    await scene.inStep(id, "build");
    const left = new AbortController();
    const cancelling = scene.useCases.cancelDeployment(scene.by, id, left.signal).catch((error: unknown) => error);
    left.abort();
    await cancelling;
    expect((await scene.settled(id)).status).toBe("cancelled");
  });
});

test.each(["keep", "reject"] as const)(
  "%s asks to retry when it takes too long, and continues in the background",
  async (what) => {
    await using scene = await shopScene();
    const { id } = await undecided(scene);
    const options = { settleMs: 50 };
    const decide = what === "keep" ? keepDeployment(scene.world, options) : rejectDeployment(scene.world, options);
    await expect(decide(scene.by, id)).rejects.toMatchObject({ kind: "unavailable", code: "decision_takes_long" });
    scene.work();
    expect((await scene.until(id, ({ pendingDecision }) => pendingDecision === null)).decision).not.toBe("pending");
  },
);

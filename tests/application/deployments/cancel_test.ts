import { describe, expect, test } from "bun:test";
import { cancelDeployment } from "../../../application/deployments/cancel_deployment.ts";
import type { StepName } from "../../../domain/deployments/deployment.ts";
import { Failure } from "../../../domain/failure.ts";
import { APP, EngineScene, START } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { intercepted } from "../../support/faults/intercepted.ts";

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

const PHASES: readonly { readonly step: StepName; readonly open: () => Promise<EngineScene> }[] = [
  {
    step: "fetch",
    open: () =>
      EngineScene.open({
        replace: ({ sources }) => ({
          sources: intercepted(sources, "fetch", (goOn, [, into]) =>
            slow ? aborted((into as { signal: AbortSignal }).signal) : goOn(),
          ),
        }),
      }),
  },
  { step: "build", open: () => EngineScene.open() },
  { step: "health", open: () => EngineScene.open({ engine: { healthMs: 60_000 } }) },
  { step: "switch", open: () => EngineScene.open({ engine: { probationMs: 60_000 } }) },
];

let slow = false;

describe.each(PHASES)("cancelling in $step", ({ step, open }) => {
  test("leaves nothing running and no files behind", async () => {
    await using scene = await open();
    slow = step === "fetch";
    if (step === "build") scene.scriptBuild({ hangs: true });
    if (step === "health") scene.healthy = () => false;
    const project = await scene.project();
    const { id } = await scene.deploy(project);
    await scene.inStep(id, step);
    const cancelled = await scene.useCases.cancelDeployment(scene.by, id);
    expect(cancelled).toMatchObject({ status: "cancelled", error: null, artifactAvailable: false });
    expect(scene.served(project)).toBeUndefined();
    expect(await scene.running()).toEqual([]);
    expect(await scene.folders()).toEqual([]);
    expect((await scene.events(id)).at(-1)).toMatchObject({ type: "end", status: "cancelled", error: null });
    expect(await scene.log(id)).toContain("The deployment was cancelled");
    for (const { status } of cancelled.services) expect(status).toBe("stopped");
  });
});

test.each(["build", "health"] as const)("cancelling in %s leaves the live release as it was", async (step) => {
  await using scene = await EngineScene.open({ engine: { healthMs: 60_000 } });
  const project = await scene.project();
  const good = await scene.deployed(project);
  if (step === "build") scene.scriptBuild({ hangs: true });
  else scene.healthy = () => false;
  const { id } = await scene.deploy(project);
  await scene.inStep(id, step);
  expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
  expect(scene.served(project)).toBe(good.id);
  expect(await scene.running()).toEqual([good.id]);
  expect(await scene.folders()).toEqual([good.id]);
});

test("cancelling a queued deployment ends it at once, and removes its upload", async () => {
  await using scene = await EngineScene.open();
  await scene.rest();
  const project = await scene.project({});
  const uploadSessionId = await scene.upload(APP);
  const { id } = await scene.deploy(project, { uploadSessionId });
  expect(await scene.uploads()).toEqual([uploadSessionId]);
  expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
  expect(await scene.uploads()).toEqual([]);
});

test("refuses to cancel a deployment that already serves, and says that it is ready", async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  await using scene = await EngineScene.open({
    replace: ({ liveReleases }) => ({
      liveReleases: intercepted(liveReleases, "activate", async (goOn) => {
        await goOn();
        await gate;
      }),
    }),
  });
  const project = await scene.project();
  const { id } = await scene.deploy(project);
  await scene.until(id, ({ services }) => services[0]?.status === "healthy");
  await eventually(
    () => scene.memory.liveReleases.find(project.id),
    (live) => live !== undefined,
  );
  const cancelling = scene.useCases.cancelDeployment(scene.by, id).catch((error: unknown) => error);
  await scene.until(id, ({ cancelRequested }) => cancelRequested);
  letGo();
  const refused = await cancelling;
  await expect(refused).toBeInstanceOf(Failure);
  expect((refused as Failure).message).toBe('Cannot cancel this deployment: its status is "ready"');
  expect(scene.served(project)).toBe(id);
  expect(await scene.running()).toEqual([id]);
});

test("cancelling a deployment frees the queue of its project", async () => {
  await using scene = await EngineScene.open();
  scene.scriptBuild({ hangs: true });
  const project = await scene.project();
  const stuck = await scene.deploy(project);
  const next = await scene.deploy(project);
  await scene.inStep(stuck.id, "build");
  scene.memory.builder.scripts.clear();
  await scene.useCases.cancelDeployment(scene.by, stuck.id);
  expect((await scene.settled(next.id)).status).toBe("ready");
});

test("a cancel request that no worker received is honoured by the worker that takes over", async () => {
  await using scene = await EngineScene.open();
  scene.scriptBuild({ hangs: true });
  const { id } = await scene.deploy(await scene.project());
  await scene.inStep(id, "build");
  await scene.rest();
  scene.memory.builder.scripts.clear();
  const cancelling = scene.useCases.cancelDeployment(scene.by, id);
  scene.work();
  expect((await cancelling).status).toBe("cancelled");
  expect(await scene.folders()).toEqual([]);
});

test("refuses to cancel a deployment that has ended", async () => {
  await using scene = await EngineScene.open();
  scene.memory.runtime.scripts.set(START, { does: "ends", code: 1 });
  const { id, status } = await scene.deployed(await scene.project());
  expect(status).toBe("failed");
  const refused = scene.useCases.cancelDeployment(scene.by, id);
  await expect(refused).rejects.toThrow('Cannot cancel this deployment: its status is "failed"');
});

test("a cancellation that takes long asks to retry, and completes in the background", async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  await using scene = await EngineScene.open({
    replace: ({ releaseFolders }) => ({
      releaseFolders: intercepted(releaseFolders, "remove", async (goOn) => {
        await gate;
        return goOn();
      }),
    }),
  });
  scene.scriptBuild({ hangs: true });
  const { id } = await scene.deploy(await scene.project());
  await scene.inStep(id, "build");
  const refused = await cancelDeployment(scene.world, { settleMs: 20 })(scene.by, id).catch((error: Failure) => error);
  expect(refused).toMatchObject({ kind: "unavailable", code: "cancel_takes_long", retryAfter: 5 });
  letGo();
  expect((await scene.settled(id)).status).toBe("cancelled");
});

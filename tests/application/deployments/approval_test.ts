import { describe, expect, test } from "bun:test";
import { APP, commit, EngineScene, REPOSITORY, told } from "../../support/engine_scene.ts";

const DAY = 24 * 3_600_000;
const GATED = { gitUrl: REPOSITORY, requireApproval: true };

async function asked(scene: EngineScene, settings = GATED) {
  const project = await scene.project(settings);
  const { id } = await scene.deploy(project);
  const waiting = await scene.until(id, ({ held }) => held);
  return { project, id, promptId: waiting.prompt!.promptId, waiting };
}

function answer(scene: EngineScene, id: string, promptId: string, action: string) {
  return scene.useCases.respondToPrompt(scene.by, id, { promptId, action });
}

describe("a build that needs approval", () => {
  test("waits in building with a prompt that names its commit, before anything of it ran", async () => {
    await using scene = await EngineScene.open();
    const { id, waiting } = await asked(scene);
    expect(waiting).toMatchObject({ status: "building", held: true, commitSha: "a1".padEnd(40, "0") });
    expect(waiting.prompt).toMatchObject({ answer: null, message: expect.stringContaining("a10000000000") });
    expect(waiting.prompt!.actions.map((action) => action.id)).toEqual(["approve", "reject"]);
    expect(scene.memory.builder.requests).toEqual([]);
    expect(told(await scene.events(id))).toContain("prompt");
  });

  test("goes on when it is approved, with exactly what was shown", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await asked(scene);
    scene.known.git[REPOSITORY] = { commits: [commit("e9", { ...APP, "evil.js": "steal()" })] };
    await answer(scene, id, promptId, "approve");
    const ready = await scene.settled(id);
    expect(ready).toMatchObject({ status: "ready", commitSha: "a1".padEnd(40, "0"), prompt: null });
    expect(await scene.memory.releaseFolders.read(id, "evil.js", { maxBytes: 100 })).toBeUndefined();
    expect(told(await scene.events(id)).filter((event) => event === "progress fetch")).toHaveLength(1);
  });

  test("is cancelled when it is rejected, and leaves nothing", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await asked(scene);
    await answer(scene, id, promptId, "reject");
    expect(await scene.settled(id)).toMatchObject({ status: "cancelled", error: null, held: false });
    expect(await scene.folders()).toEqual([]);
    expect(await scene.log(id)).toContain("The build was rejected");
  });

  test("fails when nobody answers in time, with the step and what to do", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await asked(scene);
    scene.memory.clock.advance(DAY + 1);
    await scene.memory.deploymentQueue.announce();
    const failed = await scene.settled(id);
    expect(failed).toMatchObject({ status: "failed", error: { code: "approval_expired", step: "build" } });
    expect(failed.error!.message).toContain("Deploy again");
    expect(await scene.folders()).toEqual([]);
    await expect(answer(scene, id, promptId, "approve")).rejects.toMatchObject({ code: "no_open_prompt" });
  });

  test("is cancelled like any other, and leaves nothing", async () => {
    await using scene = await EngineScene.open();
    const { id } = await asked(scene);
    expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
    expect(await scene.folders()).toEqual([]);
  });

  test("holds no build slot while it waits, but its project's place", async () => {
    await using scene = await EngineScene.open({ maxBuilds: 1 });
    const { project, id, promptId } = await asked(scene);
    const next = await scene.deploy(project, { requireApproval: false });
    expect((await scene.deployed(await scene.project())).status).toBe("ready");
    expect((await scene.memory.deployments.get(next.id))?.status).toBe("queued");
    await answer(scene, id, promptId, "approve");
    expect((await scene.settled(next.id)).status).toBe("ready");
    expect((await scene.settled(id)).version).toBeLessThan((await scene.settled(next.id)).version);
  });

  test("survives a restart while it waits, and one after the answer", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await asked(scene);
    await scene.rest();
    scene.work();
    await Bun.sleep(20);
    expect(await scene.memory.deployments.get(id)).toMatchObject({ status: "building", held: true });
    await scene.rest();
    await answer(scene, id, promptId, "approve");
    scene.work();
    expect((await scene.settled(id)).status).toBe("ready");
  });

  test("takes only one of its answers, once, for its own prompt", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await asked(scene);
    await expect(answer(scene, id, promptId, "maybe")).rejects.toThrow("approve, reject");
    await expect(answer(scene, id, "another", "approve")).rejects.toMatchObject({ code: "no_open_prompt" });
    await scene.rest();
    await answer(scene, id, promptId, "approve");
    await expect(answer(scene, id, promptId, "reject")).rejects.toMatchObject({ code: "no_open_prompt" });
  });
});

describe("a deployment held by start: false", () => {
  test("stays in queued until somebody starts it", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const { id } = await scene.deploy(project, { start: false });
    expect((await scene.deployed(project)).status).toBe("ready");
    expect(await scene.memory.deployments.get(id)).toMatchObject({ status: "queued", held: true });
    await scene.useCases.startBuild(scene.by, id);
    expect((await scene.settled(id)).status).toBe("ready");
    expect(scene.served(project)).toBe(id);
  });

  test("is cancelled after a day without a start", async () => {
    await using scene = await EngineScene.open();
    const { id } = await scene.deploy(await scene.project(), { start: false });
    scene.memory.clock.advance(DAY + 1);
    await scene.memory.deploymentQueue.announce();
    expect(await scene.settled(id)).toMatchObject({ status: "cancelled", held: false });
    expect((await scene.events(id)).at(-1)).toMatchObject({ type: "end", status: "cancelled" });
  });

  test("starting one that runs changes nothing, and one that ended is refused", async () => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ hangs: true });
    const { id } = await scene.deploy(await scene.project());
    await scene.inStep(id, "build");
    expect((await scene.useCases.startBuild(scene.by, id)).status).toBe("building");
    await scene.useCases.cancelDeployment(scene.by, id);
    await expect(scene.useCases.startBuild(scene.by, id)).rejects.toThrow('its status is "cancelled"');
  });

  test("starting one that waits for an answer does not answer for anybody", async () => {
    await using scene = await EngineScene.open();
    const { id } = await asked(scene);
    await scene.useCases.startBuild(scene.by, id);
    await Bun.sleep(20);
    expect(await scene.memory.deployments.get(id)).toMatchObject({ status: "building", held: true });
  });
});

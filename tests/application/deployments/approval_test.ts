import { describe, expect, test } from "bun:test";
import { waitingReason } from "../../../domain/deployments/waiting_reason.ts";
import { APP, commit, EngineScene, REPOSITORY, eventSummary } from "../../support/apps/engine_scene.ts";

const DAY = 24 * 3_600_000;
const GATED = { gitUrl: REPOSITORY, requireApproval: true };

async function awaitingApproval(scene: EngineScene, settings = GATED) {
  const project = await scene.project(settings);
  const { id } = await scene.deploy(project);
  const waiting = await scene.until(id, ({ held }) => held);
  return { project, id, promptId: waiting.prompt!.promptId, waiting };
}

function answer(scene: EngineScene, id: string, promptId: string, action: string) {
  return scene.useCases.respondToPrompt(scene.by, id, { promptId, action });
}

const developer = (scene: EngineScene) => ({ ...scene.by, role: "developer" as const });

describe("a build that needs approval", () => {
  test("waits in building with a prompt that names its commit, before anything of it ran", async () => {
    await using scene = await EngineScene.open();
    const { id, waiting } = await awaitingApproval(scene);
    expect(waiting).toMatchObject({ status: "building", held: true, commitSha: "a1".padEnd(40, "0") });
    expect(waiting.prompt).toMatchObject({ answer: null, message: expect.stringContaining("a10000000000") });
    expect(waiting.prompt!.actions.map((action) => action.id)).toEqual(["approve", "reject"]);
    expect(scene.memory.builder.requests).toEqual([]);
    expect(eventSummary(await scene.events(id))).toContain("prompt");
  });

  test("gives the reason for the wait in the deployment and in its log", async () => {
    await using scene = await EngineScene.open();
    const { id, waiting } = await awaitingApproval(scene);
    const until = waiting.prompt!.expiresAt.toISOString();
    const reason = `Its build waits for an approval until ${until}. Answer with POST /api/deployments/${id}/build/respond`;
    expect(waitingReason(waiting)).toBe(reason);
    expect(await scene.log(id)).toContain(reason);
  });

  test("continues once approved, with exactly what was shown", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await awaitingApproval(scene);
    scene.known.git[REPOSITORY] = { commits: [commit("e9", { ...APP, "evil.js": "steal()" })] };
    await answer(scene, id, promptId, "approve");
    const ready = await scene.settled(id);
    expect(ready).toMatchObject({ status: "ready", commitSha: "a1".padEnd(40, "0"), prompt: null });
    expect(await scene.memory.releaseFolders.read(id, "evil.js", { maxBytes: 100 })).toBeUndefined();
    expect(eventSummary(await scene.events(id)).filter((event) => event === "progress fetch")).toHaveLength(1);
  });

  test("is cancelled when it is rejected, and leaves nothing", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await awaitingApproval(scene);
    await answer(scene, id, promptId, "reject");
    expect(await scene.settled(id)).toMatchObject({ status: "cancelled", error: null, held: false });
    expect(await scene.folders()).toEqual([]);
    expect(await scene.log(id)).toContain("The build was rejected");
  });

  test("fails when the prompt is not answered in time, with the step and what to do", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await awaitingApproval(scene);
    scene.memory.clock.advance(DAY + 1);
    const failed = await scene.settled(id);
    expect(failed).toMatchObject({ status: "failed", error: { code: "approval_expired", step: "build" } });
    expect(failed.error!.message).toContain("Deploy again");
    expect(await scene.folders()).toEqual([]);
    await expect(answer(scene, id, promptId, "approve")).rejects.toMatchObject({ code: "no_open_prompt" });
  });

  test("is cancelled like any other, and leaves nothing", async () => {
    await using scene = await EngineScene.open();
    const { id } = await awaitingApproval(scene);
    expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
    expect(await scene.folders()).toEqual([]);
  });

  test("holds no build slot while it waits, but keeps its project's turn", async () => {
    await using scene = await EngineScene.open({ maxBuilds: 1 });
    const { project, id, promptId } = await awaitingApproval(scene);
    const next = await scene.deploy(project, { requireApproval: false });
    expect((await scene.deployed(await scene.project())).status).toBe("ready");
    expect((await scene.memory.deployments.get(next.id))?.status).toBe("queued");
    await answer(scene, id, promptId, "approve");
    expect((await scene.settled(next.id)).status).toBe("ready");
    expect((await scene.settled(id)).version).toBeLessThan((await scene.settled(next.id)).version);
  });

  test("survives a restart while it waits, and another after the answer", async () => {
    await using scene = await EngineScene.open();
    const { id, promptId } = await awaitingApproval(scene);
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
    const { id, promptId } = await awaitingApproval(scene);
    await expect(answer(scene, id, promptId, "maybe")).rejects.toThrow("approve, reject");
    await expect(answer(scene, id, "another", "approve")).rejects.toMatchObject({ code: "no_open_prompt" });
    await scene.rest();
    await answer(scene, id, promptId, "approve");
    await expect(answer(scene, id, promptId, "reject")).rejects.toMatchObject({ code: "no_open_prompt" });
  });
});

describe("the approval gate of a project", () => {
  test("can be skipped by an admin of deployments, but not with permission to deploy alone", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project(GATED);
    const request = { projectId: project.id, requireApproval: false };
    const refused = await scene.useCases.deployProject(developer(scene), request).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "forbidden", message: expect.stringContaining("deployment:admin") });
    expect(await scene.memory.deployments.ofProject(project.id)).toEqual([]);
    const made = await scene.useCases.deployProject(scene.by, request);
    expect((await scene.settled(made.id)).status).toBe("ready");
  });

  test("applies to a deployment created before the gate was set, unless an admin skipped it", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const request = { projectId: project.id, requireApproval: false, start: false };
    const theirs = await scene.useCases.deployProject(developer(scene), request);
    const ours = await scene.useCases.deployProject(scene.by, request);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { requireApproval: true } });
    await scene.useCases.startBuild(scene.by, ours.id);
    expect((await scene.settled(ours.id)).status).toBe("ready");
    await scene.useCases.startBuild(scene.by, theirs.id);
    expect((await scene.until(theirs.id, ({ prompt }) => prompt !== null)).status).toBe("building");
  });

  test("applies to a redeploy of a deployment that an admin skipped it for", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project(GATED);
    const first = await scene.deployed(project, { requireApproval: false });
    const { id } = await scene.useCases.redeploy(developer(scene), first.id, {});
    expect((await scene.until(id, ({ prompt }) => prompt !== null)).status).toBe("building");
  });

  test("applies to a rollback that has to rebuild, and not to one that does not", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project(GATED);
    const made = [];
    for (let count = 0; count < 3; count++) {
      scene.memory.clock.advance(1_000);
      made.push(await scene.deployed(project, { requireApproval: false }));
    }
    scene.memory.clock.advance(1_000);
    const kept = await scene.useCases.rollback(scene.by, made[1]!.id);
    expect((await scene.settled(kept.id)).status).toBe("ready");
    const { id } = await scene.useCases.rollback(scene.by, made[0]!.id);
    const { prompt } = await scene.until(id, (deployment) => deployment.prompt !== null);
    await answer(scene, id, prompt!.promptId, "approve");
    expect((await scene.settled(id)).status).toBe("ready");
  });

  test("applies to a single deployment that requests it, and to redeploys of that", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const { id } = await scene.deploy(project, { requireApproval: true });
    const { prompt } = await scene.until(id, (deployment) => deployment.prompt !== null);
    await answer(scene, id, prompt!.promptId, "approve");
    await scene.settled(id);
    const again = await scene.useCases.redeploy(scene.by, id, {});
    expect((await scene.until(again.id, (deployment) => deployment.prompt !== null)).status).toBe("building");
  });
});

describe("a deployment held by start: false", () => {
  test("stays queued until it is started", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const { id } = await scene.deploy(project, { start: false });
    expect((await scene.deployed(project)).status).toBe("ready");
    const held = await scene.memory.deployments.get(id);
    expect(held).toMatchObject({ status: "queued", held: true });
    const reason = `It is held. Start it with POST /api/deployments/${id}/build`;
    expect(waitingReason(held!)).toBe(reason);
    expect(await scene.log(id)).toEqual([reason]);
    await scene.useCases.startBuild(scene.by, id);
    const ready = await scene.settled(id);
    expect([ready.status, waitingReason(ready)]).toEqual(["ready", null]);
    expect(scene.served(project)).toBe(id);
  });

  test("is cancelled after a day without a start", async () => {
    await using scene = await EngineScene.open();
    const { id } = await scene.deploy(await scene.project(), { start: false });
    scene.memory.clock.advance(DAY + 1);
    expect(await scene.settled(id)).toMatchObject({ status: "cancelled", held: false });
    expect((await scene.events(id)).at(-1)).toMatchObject({ type: "end", status: "cancelled" });
  });

  test("does nothing when started while it runs, and refuses a start after it ended", async () => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ hangs: true });
    const { id } = await scene.deploy(await scene.project());
    await scene.inStep(id, "build");
    expect((await scene.useCases.startBuild(scene.by, id)).status).toBe("building");
    await scene.useCases.cancelDeployment(scene.by, id);
    await expect(scene.useCases.startBuild(scene.by, id)).rejects.toThrow('its status is "cancelled"');
  });

  test("is not approved by being started while it waits for an answer", async () => {
    await using scene = await EngineScene.open();
    const { id } = await awaitingApproval(scene);
    await scene.useCases.startBuild(scene.by, id);
    await Bun.sleep(20);
    expect(await scene.memory.deployments.get(id)).toMatchObject({ status: "building", held: true });
  });
});

import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../../adapters/memory/host_folders.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";

function back(scene: EngineScene, id: string) {
  scene.memory.clock.advance(1_000);
  return scene.useCases.rollback(scene.by, id);
}

function again(scene: EngineScene, id: string, request: { useExistingCommit?: boolean } = {}) {
  scene.memory.clock.advance(1_000);
  return scene.useCases.redeploy(scene.by, id, request);
}

async function variable(scene: EngineScene, projectId: string, value: string) {
  await scene.useCases.changeVariables(scene.by, projectId, {
    upserts: [{ key: "GREETING", value: new Secret(value), secret: true }],
    deletes: [],
  });
}

/** Records all start requests. */
function starts(scene: EngineScene) {
  const { runtime } = scene.memory;
  const requests: Parameters<typeof runtime.start>[0][] = [];
  const start = runtime.start.bind(runtime);
  runtime.start = (request) => {
    requests.push(request);
    return start(request);
  };
  return requests;
}

describe("a rollback", () => {
  test("to a kept release runs its files as they are, without a build", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project);
    await scene.deployed(project);
    const builds = scene.memory.builder.requests.length;
    const requests = starts(scene);
    const made = await back(scene, first.id);
    expect(made).toMatchObject({ trigger: "rollback", rollbackOf: first.id, status: "queued", requireApproval: false });
    const ready = await scene.settled(made.id);
    expect(ready).toMatchObject({ status: "ready", artifactOf: first.id, artifactAvailable: true });
    expect([ready.commitSha, ready.framework]).toEqual([first.commitSha, first.framework]);
    expect(first.framework).not.toBeNull();
    expect(scene.memory.builder.requests).toHaveLength(builds);
    expect(requests.map(({ runs }) => runs)).toMatchObject([{ kind: "folder", folder: `/releases/${first.id}` }]);
    expect(scene.served(project)).toBe(ready.id);
    expect(ready.steps.map(({ name }) => name)).not.toContain("build");
  });

  test("runs with the recorded environment and plan, not with those of the project", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({ gitUrl: REPOSITORY, startCommand: "serve the first", healthPath: "/first" });
    await variable(scene, project.id, "from the first");
    const first = await scene.deployed(project);
    await variable(scene, project.id, "from the second");
    await scene.useCases.changeProject(scene.by, project.id, {
      settings: { startCommand: "serve the second", healthPath: "/second" },
    });
    await scene.deployed(project);
    const requests = starts(scene);
    const ready = await scene.settled((await back(scene, first.id)).id);
    expect(requests[0]!.runs.command).toBe("serve the first");
    expect(requests[0]!.environment.get("GREETING")?.reveal()).toBe("from the first");
    expect(ready.plan).toEqual(first.plan);
    const now = await scene.deployed(project);
    expect(now.plan.healthPath).toBe("/second");
  });

  test("to a cleaned release rebuilds its commit", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const first = await scene.deployed(project);
    const later = commit("a2", { ...APP, "new.js": "" });
    scene.known.git[REPOSITORY] = { commits: [later, commit("a1", APP, [])] };
    for (let count = 0; count < 2; count++) {
      scene.memory.clock.advance(1_000);
      await scene.deployed(project);
    }
    expect(await scene.memory.deployments.get(first.id)).toMatchObject({ artifactAvailable: false });
    const ready = await scene.settled((await back(scene, first.id)).id);
    expect(ready).toMatchObject({ status: "ready", commitSha: first.commitSha, artifactOf: ready.id });
    expect(await scene.memory.releaseFolders.read(ready.id, "new.js", { maxBytes: 10 })).toBeUndefined();
  });

  test("without files and without a commit is refused before anything is touched", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    const deploy = async () => {
      scene.memory.clock.advance(1_000);
      return scene.deployed(project, { uploadSessionId: await scene.upload(APP) });
    };
    const first = await deploy();
    await deploy();
    const last = await deploy();
    const total = async () => (await scene.memory.deployments.ofProject(project.id)).length;
    const before = await total();
    await expect(back(scene, first.id)).rejects.toMatchObject({ kind: "invalid", code: "artifact_gone" });
    expect(await total()).toBe(before);
    expect(scene.served(project)).toBe(last.id);
  });

  test("that is queued protects its files from cleanup", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    const first = await scene.deployed(project, { uploadSessionId: await scene.upload(APP) });
    scene.memory.clock.advance(1_000);
    await scene.deployed(project, { uploadSessionId: await scene.upload(APP) });
    await scene.rest();
    scene.memory.clock.advance(1_000);
    const between = await scene.deploy(project, { uploadSessionId: await scene.upload(APP) });
    const made = await back(scene, first.id);
    scene.work();
    expect((await scene.settled(between.id)).status).toBe("ready");
    expect(await scene.settled(made.id)).toMatchObject({ status: "ready", artifactOf: first.id });
  });

  test("to a deployment that was never a release is refused", async () => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ exitCode: 1 });
    const failed = await scene.deployed(await scene.project());
    await expect(back(scene, failed.id)).rejects.toMatchObject({ kind: "invalid", code: "not_a_release" });
  });

  test("to a preview brings the preview back, not the project's live release", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const live = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    const preview = await scene.deployed(project, { environment: "preview" });
    const ready = await scene.settled((await back(scene, preview.id)).id);
    expect(ready).toMatchObject({ status: "ready", environment: "preview" });
    expect(scene.served(project)).toBe(live.id);
  });

  test("of a rollback runs the same files once more", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    const once = await scene.settled((await back(scene, first.id)).id);
    const twice = await scene.settled((await back(scene, once.id)).id);
    expect(twice).toMatchObject({ status: "ready", artifactOf: first.id, rollbackOf: once.id });
  });

  test("that fails leaves the files of its target", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    const second = await scene.deployed(project);
    scene.healthy = () => false;
    expect((await scene.settled((await back(scene, first.id)).id)).status).toBe("failed");
    expect(scene.served(project)).toBe(second.id);
    scene.healthy = () => true;
    expect((await scene.settled((await back(scene, first.id)).id)).status).toBe("ready");
  });
});

describe("a redeploy", () => {
  test("builds the latest commit of the branch, or exactly its own", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.known.git[REPOSITORY] = { commits: [commit("a2", APP), commit("a1", APP, [])] };
    const latest = await scene.settled((await again(scene, first.id)).id);
    expect(latest).toMatchObject({ status: "ready", trigger: "redeploy", redeployOf: first.id });
    expect(latest.commitSha).toStartWith("a2");
    const exact = await scene.settled((await again(scene, first.id, { useExistingCommit: true })).id);
    expect(exact.commitSha).toBe(first.commitSha);
    expect(exact.status).toBe("ready");
  });

  test("uses the project's current settings and variables", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    await variable(scene, project.id, "then");
    const first = await scene.deployed(project);
    await variable(scene, project.id, "now");
    const requests = starts(scene);
    await scene.settled((await again(scene, first.id, { useExistingCommit: true })).id);
    expect(requests[0]!.environment.get("GREETING")?.reveal()).toBe("now");
  });

  test("of an upload builds a copy of its files, as long as they exist", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    const first = await scene.deployed(project, { uploadSessionId: await scene.upload(APP) });
    expect(await scene.uploads()).toEqual([]);
    const second = await scene.settled((await again(scene, first.id)).id);
    expect(second).toMatchObject({ status: "ready", artifactOf: second.id });
    await scene.settled((await again(scene, second.id)).id);
    await expect(again(scene, first.id)).rejects.toMatchObject({ kind: "invalid", code: "artifact_gone" });
  });

  test("of a folder of the host that an admin set is allowed to all who may deploy", async () => {
    const hostFolders = new MemoryHostFolders(["/srv/shop"]);
    await using scene = await EngineScene.open({ replace: () => ({ hostFolders }) });
    scene.known.local["/srv/shop"] = APP;
    const project = await scene.project({ localPath: "/srv/shop" });
    const first = await scene.deployed(project);
    expect(first.status).toBe("ready");
    const developer = { ...scene.by, role: "developer" as const };
    const { id } = await scene.useCases.redeploy(developer, first.id, {});
    expect((await scene.settled(id)).status).toBe("ready");
  });
});

import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { sweepSources } from "../../application/deployments/cleanup/clean_sources.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import { Secret } from "../../domain/secret.ts";
import { eventually } from "../support/eventually.ts";
import { failing } from "../support/faults/failing.ts";
import { APP, EngineScene } from "../support/apps/engine_scene.ts";

const DAY = 24 * 3_600_000;

async function uploaded(scene: EngineScene, project: Project, files = APP): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.deploy(project, { uploadSessionId: await scene.upload(files) });
}

async function failed(scene: EngineScene, project: Project): Promise<Deployment> {
  scene.scriptBuild({ exitCode: 1 });
  const ended = await scene.settled((await uploaded(scene, project)).id);
  expect(ended.status).toBe("failed");
  scene.memory.builder.scripts.clear();
  return ended;
}

function again(scene: EngineScene, { id }: Pick<Deployment, "id">, useExistingCommit = false): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.useCases.redeploy(scene.by, id, { useExistingCommit });
}

async function built(scene: EngineScene, { id }: Deployment): Promise<Deployment> {
  const ready = await scene.settled(id);
  expect([ready.status, ready.error]).toEqual(["ready", null]);
  return ready;
}

function kept(scene: EngineScene): Promise<string[]> {
  return Array.fromAsync(scene.memory.keptSources.list());
}

/** Records the files that each build finds before it changes one and adds one. */
function watchBuilds(scene: EngineScene, exitCode = 0): string[][] {
  const seen: string[][] = [];
  const { releaseFolders } = scene.memory;
  scene.scriptBuild({
    exitCode,
    effect({ folder }) {
      const tree = releaseFolders.tree(folder);
      seen.push(tree.nodes().map(([path, node]) => `${path}: ${node.kind === "file" ? node.content : node.kind}`));
      tree.write("server.js", "changed()");
      tree.write("dist/app.js", "built()");
    },
  });
  return seen;
}

const sourceLines = (files: Readonly<Record<string, string>>) =>
  Object.entries(files)
    .map(([path, content]) => `${path}: ${content}`)
    .toSorted();

describe("a deployment of an upload can be built again from exactly its files", () => {
  test("after its build failed, with the current variables", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const seen = watchBuilds(scene, 1);
    const first = await scene.settled((await uploaded(scene, project)).id);
    expect([first.status, first.artifactAvailable]).toEqual(["failed", false]);
    expect([await scene.folders(), await scene.uploads()]).toEqual([[], []]);
    await scene.useCases.changeVariables(scene.by, project.id, {
      upserts: [{ key: "KEY", value: new Secret("fixed"), secret: false }],
      deletes: [],
    });
    const later = watchBuilds(scene);
    const second = await built(scene, await again(scene, first));
    expect(second).toMatchObject({ trigger: "redeploy", redeployOf: first.id });
    expect([seen, later]).toEqual([[sourceLines(APP)], [sourceLines(APP)]]);
    expect(scene.memory.builder.requests.at(-1)!.environment.get("KEY")?.reveal()).toBe("fixed");
  });

  test("repeatedly: after a failed redeploy of it, and as a redeploy of that redeploy", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const first = await scene.settled((await uploaded(scene, project)).id);
    const seen = watchBuilds(scene, 1);
    const second = await scene.settled((await again(scene, first)).id);
    expect(second.status).toBe("failed");
    await scene.useCases.removeDeployment(scene.by, first.id);
    const others = watchBuilds(scene);
    const third = await built(scene, await again(scene, second, true));
    await scene.useCases.removeDeployment(scene.by, second.id);
    await built(scene, await again(scene, third));
    expect([...seen, ...others]).toEqual(Array.from({ length: 3 }, () => sourceLines(APP)));
  });

  test("after it served, without the changes of its build", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const seen = watchBuilds(scene);
    const first = await built(scene, await uploaded(scene, project));
    expect(await scene.memory.releaseFolders.read(first.id, "dist/app.js", { maxBytes: 100 })).toBeDefined();
    await built(scene, await again(scene, first, true));
    expect(seen).toEqual([sourceLines(APP), sourceLines(APP)]);
  });

  test("after a rollback to it failed", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const first = await built(scene, await uploaded(scene, project));
    await built(scene, await uploaded(scene, project, { ...APP, "other.js": "" }));
    scene.healthy = () => false;
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect(back.status).toBe("failed");
    scene.healthy = () => true;
    const seen = watchBuilds(scene);
    await built(scene, await again(scene, back));
    expect(seen).toEqual([sourceLines(APP)]);
  });

  test("after it was cancelled while it was built", async () => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ hangs: true });
    const first = await uploaded(scene, await scene.project({}));
    await scene.inStep(first.id, "build");
    await scene.useCases.cancelDeployment(scene.by, first.id);
    scene.memory.builder.scripts.clear();
    await built(scene, await again(scene, first));
  });

  test("after it was cancelled before its first step", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const uploadSessionId = await scene.upload(APP);
    const first = await scene.deploy(project, { uploadSessionId, start: false });
    await scene.useCases.cancelDeployment(scene.by, first.id);
    expect(await scene.uploads()).toEqual([]);
    await built(scene, await again(scene, first));
  });

  test("after it was not started in time", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const first = await scene.deploy(project, { uploadSessionId: await scene.upload(APP), start: false });
    scene.memory.clock.advance(DAY + 1);
    expect((await scene.settled(first.id)).status).toBe("cancelled");
    await eventually(
      () => scene.uploads(),
      ({ length }) => length === 0,
    );
    await built(scene, await again(scene, first));
  });

  test("after its build was rejected at the approval gate", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({ requireApproval: true });
    const first = await uploaded(scene, project);
    const { prompt } = await scene.until(first.id, (deployment) => deployment.prompt !== null);
    const answer = { promptId: prompt!.promptId, action: "reject" };
    await scene.useCases.respondToPrompt(scene.by, first.id, answer);
    expect((await scene.settled(first.id)).status).toBe("cancelled");
    await scene.useCases.changeProject(scene.by, project.id, { settings: { requireApproval: false } });
    await built(scene, await again(scene, first));
  });

  test("after it was rejected", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const files = { "web/package.json": APP["package.json"]!, "jobs/package.json": APP["package.json"]! };
    const services = [
      { name: "web", rootDirectory: "web", startCommand: "serve web" },
      { name: "jobs", rootDirectory: "jobs", startCommand: "work" },
    ];
    scene.memory.runtime.scripts.set("service:jobs", { does: "ends", code: 1 });
    const held = await scene.deployed(project, { uploadSessionId: await scene.upload(files), services });
    expect(held.status).toBe("partial_failure");
    await scene.useCases.rejectDeployment(scene.by, held.id);
    expect(await scene.folders()).toEqual([]);
    scene.memory.runtime.scripts.clear();
    await built(scene, await again(scene, held));
  });

  test("after its variables could not be read", async () => {
    await using scene = await EngineScene.open({
      replace: ({ variables }) => ({ variables: failing(variables, "reveal", { times: 1 }) }),
    });
    const first = await scene.settled((await uploaded(scene, await scene.project({}))).id);
    expect([first.status, await scene.uploads()]).toEqual(["failed", []]);
    await built(scene, await again(scene, first));
  });
});

async function folderScene(): Promise<EngineScene> {
  const hostFolders = new MemoryHostFolders(["/srv/shop"]);
  const scene = await EngineScene.open({ replace: () => ({ hostFolders }) });
  scene.known.local["/srv/shop"] = APP;
  return scene;
}

describe("a deployment of a folder of the machine", () => {
  const CHANGED = { ...APP, "server.js": "listen(again)" };

  test("is rebuilt from the current folder, or from exactly its files", async () => {
    await using scene = await folderScene();
    const project = await scene.project({ localPath: "/srv/shop" });
    const seen = watchBuilds(scene);
    const first = await scene.deployed(project);
    scene.known.local["/srv/shop"] = CHANGED;
    const exact = await built(scene, await again(scene, first, true));
    await built(scene, await again(scene, first));
    await built(scene, await again(scene, exact, true));
    await built(scene, await again(scene, exact));
    const [then, now] = [sourceLines(APP), sourceLines(CHANGED)];
    expect(seen).toEqual([then, then, now, then, now]);
  });

  test("can be rebuilt either way after it failed, and after a rollback to it", async () => {
    await using scene = await folderScene();
    const project = await scene.project({ localPath: "/srv/shop" });
    scene.scriptBuild({ exitCode: 1 });
    const first = await scene.deployed(project);
    scene.known.local["/srv/shop"] = CHANGED;
    const seen = watchBuilds(scene);
    const exact = await built(scene, await again(scene, first, true));
    await built(scene, await again(scene, first));
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, exact.id)).id);
    await built(scene, await again(scene, back, true));
    await built(scene, await again(scene, back));
    const [then, now] = [sourceLines(APP), sourceLines(CHANGED)];
    expect(seen).toEqual([then, now, then, now]);
  });

  test("that was never fetched has no exact files to be rebuilt from", async () => {
    await using scene = await folderScene();
    const project = await scene.project({ localPath: "/srv/shop" });
    const first = await scene.deploy(project, { start: false });
    await scene.useCases.cancelDeployment(scene.by, first.id);
    const refused = await again(scene, first, true).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "artifact_gone",
      message: "Cannot build this again: its files are gone. Leave useExistingCommit out",
    });
    await built(scene, await again(scene, first));
  });
});

describe("kept sources", () => {
  test("are bounded: as many of the newest failed ones as the window allows, and one for each kept release", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 2 } });
    const project = await scene.project({});
    const ready: Deployment[] = [];
    const bad: Deployment[] = [];
    for (let count = 0; count < 6; count++) {
      ready.push(await scene.settled((await uploaded(scene, project)).id));
      bad.push(await failed(scene, project));
    }
    const stay = [...ready.slice(-3), ...bad.slice(-2)].map(({ id }) => id);
    expect((await kept(scene)).toSorted()).toEqual(stay.toSorted());
    expect(await scene.uploads()).toEqual([]);
    await expect(again(scene, bad[3]!)).rejects.toMatchObject({ kind: "invalid", code: "artifact_gone" });
    await built(scene, await again(scene, bad[4]!));
  });

  test("of failed deployments do not displace former releases, nor the other way round", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    const bad = await failed(scene, project);
    const ready = [await uploaded(scene, project), await uploaded(scene, project)];
    for (const { id } of ready) await scene.settled(id);
    expect((await kept(scene)).toSorted()).toEqual([bad, ...ready].map(({ id }) => id).toSorted());
    expect((await scene.folders()).toSorted()).toEqual(ready.map(({ id }) => id).toSorted());
  });

  test("of pinned deployments stay", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    await scene.rest();
    scene.scriptBuild({ exitCode: 1 });
    const first = await uploaded(scene, project);
    await scene.useCases.pinDeployment(scene.by, first.id, true);
    scene.work();
    expect((await scene.settled(first.id)).status).toBe("failed");
    const others = [await failed(scene, project), await failed(scene, project)];
    expect((await kept(scene)).toSorted()).toEqual([first.id, others[1]!.id].toSorted());
  });

  test("beyond the window stay for a redeploy that is queued", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project({});
    const first = await failed(scene, project);
    await scene.rest();
    const between = await uploaded(scene, project, { "notes.txt": "nothing to run" });
    const waiting = await again(scene, first);
    scene.work();
    expect((await scene.settled(between.id)).status).toBe("failed");
    await built(scene, waiting);
    expect(await kept(scene)).not.toContain(first.id);
  });

  test("of a deleted deployment are kept for a redeploy that is queued", async () => {
    await using scene = await EngineScene.open();
    const first = await failed(scene, await scene.project({}));
    await scene.rest();
    const waiting = await again(scene, first);
    await scene.useCases.removeDeployment(scene.by, first.id);
    expect(await kept(scene)).toEqual([waiting.id]);
    scene.work();
    await built(scene, waiting);
  });

  test("are removed with their deployment, and with their project", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project({});
    const one = await failed(scene, project);
    await scene.useCases.removeDeployment(scene.by, one.id);
    expect(await kept(scene)).toEqual([]);
    await failed(scene, project);
    await scene.settled((await uploaded(scene, project)).id);
    await scene.memory.projects.remove(project.organizationId, project.id);
    for (const id of await scene.folders()) await scene.memory.releaseFolders.remove(id);
    await sweepSources(scene.memory, 2)();
    expect(await kept(scene)).toEqual([]);
  });

  test("are swept after the window of their project became smaller", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 2 } });
    const project = await scene.project({});
    const bad = [await failed(scene, project), await failed(scene, project)];
    await sweepSources(scene.memory, 2)();
    expect(await kept(scene)).toHaveLength(2);
    await scene.useCases.changeProject(scene.by, project.id, { settings: { rollbackWindow: 1 } });
    await sweepSources(scene.memory, 2)();
    expect(await kept(scene)).toEqual([bad[1]!.id]);
  });
});

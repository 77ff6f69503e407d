import { describe, expect, test } from "bun:test";
import { ensureServices } from "../../../application/services/ensure_services.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene, runningServices, statuses } from "../../support/apps/service_scene.ts";

const PART = APP["package.json"]!;
const SERVICES = [
  { name: "web", rootDirectory: "web", startCommand: "serve web" },
  { name: "jobs", rootDirectory: "jobs", startCommand: "work" },
];

const withSite = (api: string) => [
  { name: "site", rootDirectory: "site", dependsOn: { api: { condition: "service_healthy" } } },
  { name: "api", image: `api:${api}` },
  { name: "jobs", image: "worker:1" },
];

function committed(scene: EngineScene, sha: string): void {
  const files = { "web/package.json": PART, "web/page": sha, "jobs/package.json": PART, "jobs/code": sha };
  scene.known.git[REPOSITORY] = { commits: [commit(sha, files)] };
}

/** The folder in which a service was last started. */
function folderOf(scene: EngineScene, service: string): string | undefined {
  const runs = scene.memory.runtime.started.findLast((request) => request.service === service)?.runs;
  return runs?.kind === "folder" ? runs.folder : undefined;
}

/** A release of two programs, and a next one whose second program failed to start. */
async function partlyFailed(scene: EngineScene, project: Project) {
  committed(scene, "a1");
  const first = await scene.deployed(project, { services: SERVICES });
  committed(scene, "a2");
  scene.memory.clock.advance(1_000);
  const isOver = failing(scene, "jobs");
  const held = await scene.deployed(project, { services: SERVICES });
  isOver();
  expect(statuses(held)).toEqual({ web: "healthy", jobs: "failed" });
  return { first, held, folder: (await scene.memory.releaseFolders.find(first.id))!.path };
}

/** Makes the next start of a service fail, but no later one. Returns a function that undoes this. */
function failing({ memory: { runtime } }: EngineScene, service: string): () => void {
  const start = runtime.start.bind(runtime);
  runtime.scripts.set(`service:${service}`, { does: "ends", code: 1 });
  runtime.start = async (request) => {
    const made = await start(request);
    if (request.service === service) runtime.scripts.delete(`service:${service}`);
    return made;
  };
  return () => void (runtime.start = start);
}

describe("a former version that is back because the next one did not come up", () => {
  test("is started with its own files after the machine restarts", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const { held, folder } = await partlyFailed(scene, project);
    expect(folderOf(scene, "jobs")).toBe(folder);
    for (const { instanceId } of await scene.memory.runtime.list()) await scene.memory.runtime.remove(instanceId);
    await ensureServices(scene.world, held);
    expect(folderOf(scene, "jobs")).toBe(folder);
    expect(folderOf(scene, "web")).not.toBe(folder);
  });

  test("keeps its files as long as its release is kept, and a rollback to it uses them", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const { first, held, folder } = await partlyFailed(scene, project);
    await scene.useCases.keepDeployment(scene.by, held.id);
    scene.memory.clock.advance(1_000);
    committed(scene, "a3");
    expect((await scene.deployed(project, { services: SERVICES })).status).toBe("ready");
    expect(await scene.folders()).toContain(first.id);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, held.id)).id);
    expect([back.status, back.error]).toEqual(["ready", null]);
    expect(folderOf(scene, "jobs")).toBe(folder);
    expect((await runningServices(scene, project))["jobs"]?.status).toBe("running");
  });

  test("of a site serves what it served before", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", { "site/index.html": "one" })] };
    const project = await scene.project({ gitUrl: REPOSITORY, publicEndpoints: [{ service: "site" }] });
    const first = await scene.deployed(project, { services: withSite("1") });
    const target = () => scene.memory.edge.routeOf(`${project.slug}.localhost`, "/")?.target;
    const before = target();
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { "site/index.html": "two" })] };
    scene.memory.clock.advance(1_000);
    const held = await scene.deployed(project, { services: withSite("bad") });
    expect(statuses(held)).toEqual({ site: "failed", api: "failed", jobs: "unchanged" });
    expect(target()).toEqual(before);
    expect(before).toMatchObject({ kind: "folder", path: expect.stringContaining(first.id) });
  });
});

import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../../adapters/memory/host_folders.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { ProjectSettingsChange } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { deployShop, SHOP, shop, shopProject, shopScene, statuses } from "../../support/apps/service_scene.ts";

const REPOSITORY_OF_TWO = {
  "package.json": JSON.stringify({ workspaces: ["apps/*"] }),
  "apps/web/package.json": JSON.stringify({ name: "web", scripts: { start: "serve web" } }),
  "apps/api/package.json": JSON.stringify({ name: "api", scripts: { start: "serve api" } }),
};

async function again(scene: EngineScene, id: string): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.settled((await scene.useCases.redeploy(scene.by, id, {})).id);
}

async function back(scene: EngineScene, id: string): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.settled((await scene.useCases.rollback(scene.by, id)).id);
}

async function set(scene: EngineScene, projectId: string, settings: ProjectSettingsChange): Promise<void> {
  await scene.useCases.changeProject(scene.by, projectId, { settings });
}

/** The addresses of a deployment, without the edge's port. */
function places({ urls }: Deployment): readonly string[] {
  return urls.map((url) => url.replace(/^http:\/\//, "").replace(":4480", ""));
}

const keeps = (line: string) => line.startsWith("Keeps the ");

describe("redeploy() keeps the endpoints that were given for a deployment", () => {
  test("of a repository of one app, also after a rollback to it", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project, { publicEndpoints: [{ domain: "front" }] });
    expect(places(first)).toEqual(["front.localhost"]);
    expect(places(await again(scene, first.id))).toEqual(["front.localhost"]);
    const rolledBack = await back(scene, first.id);
    expect(places(rolledBack)).toEqual(["front.localhost"]);
    expect(places(await again(scene, rolledBack.id))).toEqual(["front.localhost"]);
  });

  test("and notes that in its log, when they differ from the project's", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project, { publicEndpoints: [{ domain: "front" }] });
    expect((await scene.log(first.id)).filter(keeps)).toEqual([]);
    const second = await again(scene, first.id);
    expect((await scene.log(second.id)).filter(keeps)).toEqual([
      `Keeps the public endpoints that were given for ${first.id}; those in the settings of the project apply to new deployments`,
    ]);
    const plain = await scene.deployed(project);
    expect((await scene.log((await again(scene, plain.id)).id)).filter(keeps)).toEqual([]);
  });

  test("of a repository of several apps, by its current services", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    scene.known.git[REPOSITORY] = { commits: [commit("a1", REPOSITORY_OF_TWO)] };
    const project = await scene.project();
    const publicEndpoints = [{ service: "web" }, { service: "api", targetPath: "/api" }];
    const first = await scene.deployed(project, { publicEndpoints });
    expect([first.status, first.error, first.urls.length]).toEqual(["ready", null, 2]);
    const second = await again(scene, first.id);
    expect(places(second)).toEqual(places(first));
    const { "apps/api/package.json": api, ...others } = REPOSITORY_OF_TWO;
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...others, "apps/backend/package.json": api })] };
    const third = await again(scene, second.id);
    expect([third.status, third.error?.message]).toEqual(["failed", expect.stringContaining("publicEndpoints.1")]);
  });

  test("and nothing else: the project's settings apply where nothing was given", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const first = await scene.deployed(project);
    await set(scene, project.id, { publicEndpoints: [{ domain: "later" }] });
    expect(places(await again(scene, first.id))).toEqual(["later.localhost"]);
    const { items } = await scene.memory.domains.list(
      scene.by.organizationId,
      { hostnames: ["later.localhost"] },
      { page: 1, perPage: 1 },
    );
    expect(items).toMatchObject([{ projectId: project.id, type: "free" }]);
  });
});

describe("redeploy() of services", () => {
  test("keeps those that were given for a deployment, not those of the project", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    await set(scene, project.id, { services: shop({ ...SHOP, db: "2" }) });
    expect(new Set(Object.values(statuses(await again(scene, first.id))))).toEqual(new Set(["unchanged"]));
  });

  test("uses the current ones of the project when none were given", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene, { services: shop(SHOP) });
    const first = await scene.deployed(project);
    await set(scene, project.id, { services: shop({ ...SHOP, worker: "2" }) });
    expect(statuses(await again(scene, first.id))).toMatchObject({ worker: "healthy", web: "unchanged" });
    await set(scene, project.id, { services: null });
    const nothing = await scene.useCases.redeploy(scene.by, first.id, {}).catch((error: unknown) => error);
    expect(nothing).toMatchObject({ code: "no_source" });
  });

  test("leaves out those of a project of type app", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await scene.project({ gitUrl: REPOSITORY, projectType: "app", services: shop(SHOP) });
    const first = await scene.deployed(project);
    expect([first.status, Object.keys(statuses(first))]).toEqual(["ready", ["app"]]);
    const second = await again(scene, first.id);
    expect([second.status, Object.keys(statuses(second))]).toEqual(["ready", ["app"]]);
  });

  test("resolves referenced variables anew, and a rollback keeps the recorded ones", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene, { publicEndpoints: [] });
    const rotate = (value: string) =>
      scene.useCases.changeVariables(scene.by, project.id, {
        upserts: [{ key: "PASSWORD", value: new Secret(value), secret: true }],
        deletes: [],
      });
    await rotate("old");
    const services = [{ name: "web", image: "web:1", ports: [80], environment: ["PASSWORD", "MODE=fast"] }];
    const first = await scene.deployed(project, { services });
    await rotate("new");
    await again(scene, first.id);
    await back(scene, first.id);
    const received = scene.memory.runtime.started.map(({ environment }) => [
      environment.get("PASSWORD")?.reveal(),
      environment.get("MODE")?.reveal(),
    ]);
    expect(received).toEqual([
      ["old", "fast"],
      ["new", "fast"],
      ["old", "fast"],
    ]);
  });
});

test("redeploy() uses the current folder of the project", async () => {
  let folders = new MemoryHostFolders(["/srv/app"]);
  const hostFolders = {
    resolve: (path: string) => folders.resolve(path),
    locate: (path: string) => folders.locate(path),
  };
  await using scene = await EngineScene.open({ replace: () => ({ hostFolders }) });
  const project = await scene.project();
  const first = await scene.deployed(project);
  await set(scene, project.id, { localPath: "/srv/app" });
  folders = new MemoryHostFolders();
  await expect(scene.useCases.redeploy(scene.by, first.id, {})).rejects.toMatchObject({
    details: [{ path: "localPath" }],
  });
});

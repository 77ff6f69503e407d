import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../../adapters/memory/host_folders.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Project, ProjectSettingsChange } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { SHOP, shop, shopProject, shopScene, statuses } from "../../support/apps/service_scene.ts";

const OTHER = "https://git.example.com/acme/other.git";

async function variable(scene: EngineScene, { id }: Project, key: string, value: string | null): Promise<void> {
  await scene.useCases.changeVariables(scene.by, id, {
    upserts: value === null ? [] : [{ key, value: new Secret(value), secret: true }],
    deletes: value === null ? [key] : [],
  });
}

async function set(scene: EngineScene, { id }: Project, settings: ProjectSettingsChange): Promise<void> {
  await scene.useCases.changeProject(scene.by, id, { settings });
}

async function started(scene: EngineScene, { id }: Deployment): Promise<Deployment> {
  await scene.useCases.startBuild(scene.by, id);
  return scene.settled(id);
}

/** The value of an environment variable of the last started instance. */
function lastReceived(scene: EngineScene, key: string): string | undefined {
  return scene.memory.runtime.started.at(-1)?.environment.get(key)?.reveal();
}

function places({ urls }: Deployment): readonly string[] {
  return urls.map((url) => url.replace(/^http:\/\//, "").replace(":4480", ""));
}

describe("a held deployment is built with", () => {
  test("the variables as they are when its build starts, and masks their values", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    await variable(scene, project, "KEY", "old-value-123");
    const held = await scene.deploy(project, { start: false });
    expect((await scene.memory.deployments.environment(held.id)).size).toBe(0);
    await variable(scene, project, "KEY", "new-value-456");
    scene.scriptBuild({ prints: ["it is new-value-456"] });
    const ready = await started(scene, held);
    expect([ready.status, ready.secretKeys]).toEqual(["ready", ["KEY"]]);
    expect(scene.memory.builder.requests[0]!.environment.get("KEY")?.reveal()).toBe("new-value-456");
    expect(lastReceived(scene, "KEY")).toBe("new-value-456");
    expect(await scene.log(held.id)).toContain("it is [secret]");
  });

  test("the current commands, branch and repository of its project", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    scene.known.git[OTHER] = { commits: [commit("b1", APP, ["main"]), commit("b2", APP, ["next"])] };
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { gitUrl: OTHER, gitBranch: "next", startCommand: "serve it otherwise" });
    const ready = await started(scene, held);
    expect([ready.status, ready.branch, ready.commitSha]).toEqual(["ready", "next", "b2".padEnd(40, "0")]);
    expect(ready.plan.startCommand).toBe("serve it otherwise");
  });

  test("the branch, services and endpoints that were given for it, not those of the project", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", APP), commit("a2", { web: "", ...APP }, ["next"])] };
    const project = await scene.project({ gitUrl: REPOSITORY, publicEndpoints: [{ domain: "theirs" }] });
    const services = [{ name: "web", image: "web:1", ports: [80] }, { name: "app" }];
    const request = { branch: "next", services, publicEndpoints: [{ service: "web", domain: "ours" }], start: false };
    const held = await scene.deploy(project, request);
    await set(scene, project, { gitBranch: "main", services: shop(SHOP), publicEndpoints: [{ domain: "later" }] });
    const ready = await started(scene, held);
    expect([ready.status, ready.error, ready.branch]).toEqual(["ready", null, "next"]);
    expect([Object.keys(statuses(ready)), places(ready)]).toEqual([["web", "app"], ["ours.localhost"]]);
    expect(ready.commitSha).toStartWith("a2");
  });

  test("the current services and endpoints of its project, whose free names it claims", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene, { services: shop({ db: "1" }), publicEndpoints: [] });
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, {
      services: [{ name: "web", image: "web:2", ports: [80] }],
      publicEndpoints: [{ service: "web", domain: "later" }],
    });
    const ready = await started(scene, held);
    expect([ready.status, statuses(ready), places(ready)]).toEqual(["ready", { web: "healthy" }, ["later.localhost"]]);
  });

  test("the current kind of its project, even without services", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await scene.project({ gitUrl: REPOSITORY, services: shop({ db: "1" }) });
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { services: null });
    const ready = await started(scene, held);
    expect([ready.status, ready.error, Object.keys(statuses(ready))]).toEqual(["ready", null, ["app"]]);
    expect(ready.commitSha).toStartWith("a1");
  });
});

test("a queued deployment is built with the variables as they are when it is its turn", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  scene.scriptBuild({ hangs: true });
  const first = await scene.deploy(project);
  await scene.inStep(first.id, "build");
  const second = await scene.deploy(project);
  await variable(scene, project, "KEY", "set meanwhile");
  scene.memory.builder.scripts.clear();
  await scene.useCases.cancelDeployment(scene.by, first.id);
  expect((await scene.settled(second.id)).status).toBe("ready");
  expect(lastReceived(scene, "KEY")).toBe("set meanwhile");
});

test("a rollback runs with what was recorded, however long it waits", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  await variable(scene, project, "KEY", "then");
  const first = await scene.deployed(project);
  scene.memory.clock.advance(1_000);
  await scene.deployed(project);
  await scene.rest();
  const { id } = await scene.useCases.rollback(scene.by, first.id);
  await variable(scene, project, "KEY", "now");
  await set(scene, project, { startCommand: "serve it otherwise" });
  scene.work();
  const back = await scene.settled(id);
  expect([back.status, back.plan, lastReceived(scene, "KEY")]).toEqual(["ready", first.plan, "then"]);
});

describe("settings that are not valid when the build starts fail the deployment with an error:", () => {
  test("the project has no source any more", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { gitUrl: null });
    const failed = await started(scene, held);
    expect([failed.status, failed.error?.code]).toEqual(["failed", "no_source"]);
    expect(failed.error?.message).toStartWith("Cannot deploy: the project has no source");
  });

  test("a variable that the project's services refer to is gone", async () => {
    await using scene = await shopScene();
    const services = [{ name: "web", image: "web:1", ports: [80], environment: ["KEY"] }];
    const project = await scene.project({ services });
    await variable(scene, project, "KEY", "there");
    const held = await scene.deploy(project, { start: false });
    await variable(scene, project, "KEY", null);
    const failed = await started(scene, held);
    expect([failed.status, failed.error?.code]).toEqual(["failed", "invalid_request"]);
    expect(failed.error?.message).toContain("services.0.environment.0");
  });

  test.each(["starting it", "a redeploy"])("a variable that its own services refer to is gone, on %s", async (how) => {
    await using scene = await shopScene();
    const services = [{ name: "web", image: "web:1", ports: [80], environment: ["KEY", "MODE=fast"] }];
    const project = await scene.project({});
    await variable(scene, project, "KEY", "there");
    const first = await scene.deploy(project, { services, start: how !== "starting it" });
    if (how !== "starting it") await scene.settled(first.id);
    await variable(scene, project, "KEY", null);
    const failed =
      how === "starting it"
        ? await started(scene, first)
        : await scene.settled((await scene.useCases.redeploy(scene.by, first.id, {})).id);
    expect([failed.status, failed.error?.code]).toEqual(["failed", "variable_missing"]);
    expect(failed.error?.message).toBe(
      'Cannot deploy "web": the project has no variable KEY any more. Set it, or deploy with other services',
    );
  });

  test("a path of the machine is not allowed any more", async () => {
    await using scene = await shopScene();
    const services = [{ name: "web", image: "web:1", ports: [80], volumes: ["/srv/media:/media"] }];
    const project = await scene.project({ services, hostPaths: ["/srv/media"] });
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { hostPaths: [] });
    expect((await started(scene, held)).error?.code).toBe("host_access_forbidden");
  });

  test("an endpoint leads to a service that does not exist", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene, { services: shop({ db: "1" }), publicEndpoints: [] });
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { publicEndpoints: [{ service: "gone", domain: "later" }] });
    const failed = await started(scene, held);
    expect(failed.error?.message).toContain("publicEndpoints.0.service");
    const { items } = await scene.memory.domains.list(
      scene.by.organizationId,
      { hostnames: ["later.localhost"] },
      { page: 1, perPage: 1 },
    );
    expect(items).toEqual([]);
  });

  test("a host name belongs to another project", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    await scene.deployed(await scene.project(), { publicEndpoints: [{ domain: "theirs" }] });
    const held = await scene.deploy(project, { start: false });
    await set(scene, project, { publicEndpoints: [{ domain: "theirs" }] });
    const failed = await started(scene, held);
    expect([failed.status, failed.error?.code]).toEqual(["failed", "hostname_taken"]);
  });

  test("a folder of the machine was set by a user without the permission", async () => {
    const hostFolders = new MemoryHostFolders(["/srv/one", "/srv/two", "/srv/three"]);
    await using scene = await EngineScene.open({ replace: () => ({ hostFolders }) });
    scene.known.local["/srv/one"] = APP;
    scene.known.local["/srv/two"] = APP;
    const project = await scene.project({ localPath: "/srv/one" });
    const [same, other, last] = [
      await scene.deploy(project, { start: false }),
      await scene.deploy(project, { start: false }),
      await scene.deploy(project, { start: false }),
    ];
    expect((await started(scene, same)).status).toBe("ready");
    await set(scene, project, { localPath: "/srv/two" });
    const ready = await started(scene, other);
    expect([ready.status, ready.source]).toEqual(["ready", { kind: "local", path: "/srv/two" }]);
    // As left by a user without the permission to name arbitrary folders of the machine.
    await scene.memory.projects.change(project.organizationId, project.id, {
      at: new Date(),
      change: () => ({ settings: { localPath: "/srv/three" } }),
    });
    const failed = await started(scene, last);
    expect([failed.status, failed.error?.code]).toEqual(["failed", "local_source_forbidden"]);
    expect(failed.error?.message).toStartWith('Cannot deploy from this folder without the permission "project:admin"');
  });
});

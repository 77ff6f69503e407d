import { describe, expect, test } from "bun:test";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { APP, commit, EngineScene, REPOSITORY, eventSummary } from "../support/apps/engine_scene.ts";
import {
  deployShop,
  SHOP,
  shopProject,
  shopScene,
  runningServices,
  statuses,
  versions,
} from "../support/apps/service_scene.ts";

const PARTS = { "web/Dockerfile": "FROM scratch # web", "api/Dockerfile": "FROM scratch # api" };
const SERVICES = [
  { name: "web", build: "web", ports: [80] },
  { name: "api", build: "api", ports: [3000] },
];
const BROKEN = { fails: { step: "RUN make", exitCode: 2 } };

async function committed(scene: EngineScene, sha: string): Promise<void> {
  scene.known.git[REPOSITORY] = { commits: [commit(sha, { ...PARTS, "web/page": sha, "api/page": sha })] };
}

async function builtScene(options: Parameters<typeof shopScene>[0] = {}): Promise<EngineScene> {
  const scene = await shopScene(options);
  await committed(scene, "a1");
  return scene;
}

const project = (scene: EngineScene) => scene.project({ gitUrl: REPOSITORY, publicEndpoints: [{ service: "web" }] });

function errorOf({ services }: Deployment, name: string): string | null | undefined {
  return services.find((service) => service.name === name)?.error;
}

describe("a deployment with one service that fails to build", () => {
  test("brings the others live and waits for a decision; the failed one is absent and has a reason", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const shopOfTwo = await project(scene);
    const held = await scene.deployed(shopOfTwo, { services: SERVICES });
    expect([held.status, held.decision, held.error?.code]).toEqual(["partial_failure", "pending", "services_failed"]);
    expect(statuses(held)).toEqual({ web: "healthy", api: "failed" });
    expect(errorOf(held, "api")).toBe("Cannot build: step RUN make ended with code 2");
    expect(held.error?.message).toContain("api");
    expect(Object.keys(await runningServices(scene, shopOfTwo))).toEqual(["web"]);
    expect(await scene.log(held.id)).toContain("Cannot build: step RUN make ended with code 2");
    expect(eventSummary(await scene.events(held.id))).toContain("service api failed");
  });

  test("leaves the failed one on its former version, untouched, until the deployment is kept", async () => {
    await using scene = await builtScene();
    const shopOfTwo = await project(scene);
    await scene.deployed(shopOfTwo, { services: SERVICES });
    const before = await runningServices(scene, shopOfTwo);
    await committed(scene, "a2");
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const held = await scene.deployed(shopOfTwo, { services: SERVICES });
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { web: "healthy", api: "failed" }]);
    const after = await runningServices(scene, shopOfTwo);
    expect(after["api"]).toEqual(before["api"]!);
    expect(after["web"]?.instanceId).not.toBe(before["web"]?.instanceId);
    const kept = await scene.useCases.keepDeployment(scene.by, held.id);
    expect([kept.status, kept.decision]).toEqual(["ready", "kept"]);
    expect(await runningServices(scene, shopOfTwo)).toEqual(after);
    scene.memory.imageBuilder.services.clear();
    const next = await scene.deployed(shopOfTwo, { services: SERVICES });
    expect([next.status, statuses(next)]).toEqual(["ready", { web: "unchanged", api: "healthy" }]);
  });

  test("returns to the former versions when it is rejected", async () => {
    await using scene = await builtScene();
    const shopOfTwo = await project(scene);
    const first = await scene.deployed(shopOfTwo, { services: SERVICES });
    const before = await runningServices(scene, shopOfTwo);
    await committed(scene, "a2");
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const held = await scene.deployed(shopOfTwo, { services: SERVICES });
    const { deployment, restoredDeploymentId } = await scene.useCases.rejectDeployment(scene.by, held.id);
    expect([deployment.status, restoredDeploymentId]).toEqual(["rejected", first.id]);
    const after = await runningServices(scene, shopOfTwo);
    expect([after["web"]?.image, after["api"]]).toEqual([before["web"]!.image, before["api"]]);
  });

  test("treats an image that cannot be pulled the same, and fails the services that require it", async () => {
    await using scene = await shopScene();
    const shopOfFive = await shopProject(scene);
    await deployShop(scene, shopOfFive, SHOP);
    const before = await runningServices(scene, shopOfFive);
    const held = await deployShop(scene, shopOfFive, { web: "2", api: "2", worker: "2", migrate: "missing", db: "1" });
    expect(held.status).toBe("partial_failure");
    expect(statuses(held)).toEqual({
      web: "failed",
      api: "failed",
      worker: "failed",
      migrate: "failed",
      db: "unchanged",
    });
    expect(errorOf(held, "migrate")).toContain("Cannot get the image");
    expect(errorOf(held, "api")).toBe("Cannot start api: migrate, which it depends on, did not come up");
    expect(await runningServices(scene, shopOfFive)).toEqual(before);
    expect(await versions(scene, shopOfFive)).toEqual({ ...SHOP });
  });

  test("counts only the service whose image cannot be pulled as failed, in a first deployment and in a preview", async () => {
    await using scene = await shopScene();
    const services = [
      { name: "web", image: "web:1", ports: [80] },
      { name: "api", image: "api:missing", ports: [3000] },
    ];
    const publicEndpoints = [{ service: "web" }];
    const held = await scene.deployed(await scene.project({}), { services, publicEndpoints });
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { web: "healthy", api: "failed" }]);
    const preview = { services, publicEndpoints, environment: "preview" } as const;
    const failed = await scene.deployed(await scene.project({}), preview);
    expect([failed.status, statuses(failed)]).toEqual(["failed", { web: "stopped", api: "failed" }]);
    expect([errorOf(failed, "web"), errorOf(failed, "api")]).toEqual([null, failed.error!.message]);
  });

  test("lets the others be built in the release folder", async () => {
    await using scene = await EngineScene.open();
    const files = { "web/package.json": APP["package.json"]!, "api/package.json": APP["package.json"]! };
    scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
    scene.scriptBuild({ exitCode: 1 }, "make api");
    const services = [
      { name: "api", rootDirectory: "api", startCommand: "serve api", buildCommand: "make api" },
      { name: "web", rootDirectory: "web", startCommand: "serve web", buildCommand: "make web" },
    ];
    const held = await scene.deployed(await scene.project(), { services });
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { api: "failed", web: "healthy" }]);
  });

  test("continues without the service that exceeds the build timeout", async () => {
    await using scene = await builtScene({ engine: { buildTimeoutMs: 1_500 } });
    scene.memory.imageBuilder.services.set("api", { hangs: true });
    const held = await scene.deployed(await project(scene), { services: SERVICES });
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { web: "healthy", api: "failed" }]);
    expect(errorOf(held, "api")).toContain("BUILD_TIMEOUT_SECONDS");
  });

  test("shows no secret in the reason", async () => {
    await using scene = await builtScene();
    const shopOfTwo = await project(scene);
    await scene.useCases.changeVariables(scene.by, shopOfTwo.id, {
      upserts: [{ key: "KEY", value: new Secret("canary-0123456789"), secret: true }],
      deletes: [],
    });
    const failure = new Failure("invalid", "build_failed", "Cannot run --key canary-0123456789");
    scene.memory.imageBuilder.services.set("api", { effect: () => Promise.reject(failure) });
    const held = await scene.deployed(shopOfTwo, { services: SERVICES });
    expect(errorOf(held, "api")).toBe("Cannot run --key [secret]");
    expect(JSON.stringify([held, await scene.events(held.id)])).not.toContain("canary");
  });

  test("is taken over by another server when the first was stopped after the build", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const shopOfTwo = await project(scene);
    const { runtime } = scene.memory;
    const start = runtime.start.bind(runtime);
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    runtime.start = async (request) => {
      reached.resolve();
      await released.promise;
      return start(request);
    };
    const { id } = await scene.deploy(shopOfTwo, { services: SERVICES });
    await reached.promise;
    expect(statuses((await scene.memory.deployments.get(id))!)).toMatchObject({ api: "failed" });
    const stopping = scene.rest();
    released.resolve();
    await stopping;
    expect((await scene.memory.deployments.get(id))?.status).toBe("deploying");
    scene.work();
    const held = await scene.settled(id);
    expect([held.status, statuses(held)]).toEqual(["partial_failure", { web: "healthy", api: "failed" }]);
    expect(errorOf(held, "api")).toBe("Cannot build: step RUN make ended with code 2");
  });
});

describe("a deployment fails as a whole", () => {
  test("when no service can be built, and each has a reason", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("web", { fails: { step: "RUN web", exitCode: 1 } });
    scene.memory.imageBuilder.services.set("api", { fails: { step: "RUN api", exitCode: 2 } });
    const failed = await scene.deployed(await project(scene), { services: SERVICES });
    expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "build_failed", "build"]);
    expect(errorOf(failed, "web")).toContain("RUN web");
    expect(errorOf(failed, "api")).toContain("RUN api");
    expect(await scene.folders()).toEqual([]);
  });

  test("when the services that could be built require one that could not, for the reason of that one", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const [web, api] = SERVICES;
    const failed = await scene.deployed(await project(scene), { services: [{ ...web!, dependsOn: ["api"] }, api!] });
    expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "build_failed", "build"]);
    expect(errorOf(failed, "web")).toContain("which it depends on");
    expect(await scene.running()).toEqual([]);
  });

  test("when it is a preview, and cancels its other builds", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("web", { hangs: true });
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const failed = await scene.deployed(await project(scene), { services: SERVICES, environment: "preview" });
    expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "build_failed", "build"]);
    expect(errorOf(failed, "api")).toContain("RUN make");
    expect(await scene.running()).toEqual([]);
  });

  test("when the engine becomes unavailable during the builds", async () => {
    await using scene = await builtScene();
    const failure = new Failure("unavailable", "engine_away", "Cannot use Docker: it is away");
    scene.memory.imageBuilder.services.set("api", { effect: () => Promise.reject(failure) });
    const failed = await scene.deployed(await project(scene), { services: SERVICES });
    expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "engine_away", "build"]);
  });

  test("when it is cancelled while one service has failed and another is being built", async () => {
    await using scene = await builtScene();
    scene.memory.imageBuilder.services.set("web", { hangs: true });
    scene.memory.imageBuilder.services.set("api", BROKEN);
    const { id } = await scene.deploy(await project(scene), { services: SERVICES });
    await scene.until(id, (deployment) => statuses(deployment)["api"] === "failed");
    expect((await scene.useCases.cancelDeployment(scene.by, id)).status).toBe("cancelled");
    expect(statuses((await scene.memory.deployments.get(id))!)).toEqual({ web: "stopped", api: "stopped" });
    expect(await scene.folders()).toEqual([]);
  });
});

test("a single service whose image cannot be pulled fails its deployment in the build", async () => {
  await using scene = await shopScene();
  const services = [{ name: "web", image: "web:missing", ports: [80] }];
  const failed = await scene.deployed(await scene.project({}), { services });
  expect([failed.status, failed.error?.code, failed.error?.step]).toEqual(["failed", "image_missing", "build"]);
});

import { describe, expect, test } from "bun:test";
import { currentRoutes, restoreReleases, reviveReleases } from "../../../application/deployments/restore_releases.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { DeploymentQueue } from "../../../ports/deployments/deployment_queue.ts";
import type { EngineScene } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import {
  deployShop,
  SHOP,
  shop,
  shopProject,
  shopScene,
  runningServices,
  versions,
} from "../../support/apps/service_scene.ts";
import { sideBySide } from "../../support/peers/side_by_side.ts";

/** Starts to replace the database, whose health check does not succeed yet. */
async function replacingDatabase(scene: EngineScene, project: Project) {
  await deployShop(scene, project, SHOP);
  const beside = sideBySide(scene, "db");
  let isWell = false;
  scene.memory.runtime.scripts.set("service:db", {
    does: "answers",
    health: () => (isWell ? "healthy" : "starting"),
  });
  const { id } = await scene.deploy(project, { services: shop({ ...SHOP, db: "2" }) });
  await eventually(
    () => scene.running(),
    (ids) => ids.includes(id),
  );
  return { id, beside, getWell: () => void (isWell = true) };
}

describe("a service without visitors never runs twice", () => {
  const SLOW = { engine: { healthMs: 20_000 } };

  test("when the sweep revives releases while it is being replaced", async () => {
    await using scene = await shopScene(SLOW);
    const project = await shopProject(scene);
    const { id, beside, getWell } = await replacingDatabase(scene, project);
    await reviveReleases(scene.world, restoreReleases(scene.world))();
    getWell();
    expect((await scene.settled(id)).status).toBe("ready");
    expect(beside).toEqual([]);
  });

  test("when another server starts while it is being replaced, and restores what is public", async () => {
    await using scene = await shopScene(SLOW);
    const project = await shopProject(scene);
    const { id, beside, getWell } = await replacingDatabase(scene, project);
    const { web } = await runningServices(scene, project);
    await scene.memory.runtime.remove(web!.instanceId);
    await restoreReleases(scene.world)();
    const routes = await currentRoutes(scene.world, { baseDomain: "localhost" })();
    expect(routes.map(({ servedBy }) => servedBy)).toContain(web!.instanceId);
    getWell();
    expect((await scene.settled(id)).status).toBe("ready");
    expect(beside).toEqual([]);
  });

  test("when it is restored because the deployment is cancelled", async () => {
    await using scene = await shopScene(SLOW);
    const project = await shopProject(scene);
    const { id, beside } = await replacingDatabase(scene, project);
    await scene.useCases.cancelDeployment(scene.by, id);
    expect(await versions(scene, project)).toEqual(SHOP);
    expect(beside).toEqual([]);
  });

  test("when it is restored because a reject failed", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, db: "2", api: "2", worker: "bad" });
    const beside = sideBySide(scene, "db");
    scene.memory.runtime.scripts.set("service:api", { does: "ends", code: 1 });
    const refused = scene.useCases.rejectDeployment(scene.by, held.id).catch((error: unknown) => error);
    expect(await refused).toMatchObject({ code: "reject_failed" });
    expect(await versions(scene, project)).toEqual({ ...SHOP, db: "2", api: "2" });
    expect(beside).toEqual([]);
  });

  test("when a server resumes a reject that another had begun", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, db: "2", api: "2", worker: "bad" });
    await scene.rest();
    const beside = sideBySide(scene, "db");
    const rejected = scene.useCases.rejectDeployment(scene.by, held.id);
    // Killed when the former versions of both already run.
    let isDead = false;
    const runtime = intercepted(scene.world.runtime, "find", (goOn, [instanceId]) =>
      isDead || (isDead = `${instanceId}`.includes("-api-1r")) ? new Promise(() => {}) : goOn(),
    );
    scene.doomed({ ...scene.world, runtime, deploymentQueue: untilDead(scene.world.deploymentQueue, () => isDead) });
    await eventually(
      async () => isDead,
      (yes) => yes,
    );
    scene.memory.clock.advance(60_000);
    scene.work();
    expect((await rejected).deployment.status).toBe("rejected");
    expect(await versions(scene, project)).toMatchObject({ web: "1", api: "1", db: "1", worker: "1" });
    expect(beside).toEqual([]);
  });
});

const named = (name: string, health: "healthy" | "starting") => [
  { name: "web", image: "web:1", ports: [80] },
  { name, image: `db:${health === "healthy" ? 1 : 2}`, volumes: ["data:/data"] },
];

/** Records, at every start, which services that use the volume run. */
function users({ memory: { runtime } }: EngineScene): string[] {
  const found: string[] = [];
  const start = runtime.start.bind(runtime);
  runtime.start = async (request) => {
    const made = await start(request);
    const running = (await runtime.list()).filter(({ service }) => service !== "web");
    found.push(running.map(({ service }) => service).join(" beside "));
    return made;
  };
  return found;
}

describe("a volume is never given to a service while an outgoing one uses it", () => {
  test("when the service is renamed", async () => {
    await using scene = await shopScene();
    const project = await scene.project({ publicEndpoints: [{ service: "web" }] });
    await scene.deployed(project, { services: named("db", "healthy") });
    const found = users(scene);
    expect((await scene.deployed(project, { services: named("database", "healthy") })).status).toBe("ready");
    expect(found).toEqual(["database"]);
  });

  test("when the former service is restored because the deployment is cancelled", async () => {
    await using scene = await shopScene({ engine: { healthMs: 20_000 } });
    const project = await scene.project({ publicEndpoints: [{ service: "web" }] });
    await scene.deployed(project, { services: named("db", "healthy") });
    const found = users(scene);
    scene.memory.runtime.scripts.set("service:database", { does: "answers", health: "starting" });
    const { id } = await scene.deploy(project, { services: named("database", "starting") });
    await eventually(
      async () => found.length,
      (count) => count === 1,
    );
    await scene.useCases.cancelDeployment(scene.by, id);
    expect(found).toEqual(["database", "db"]);
  });
});

/** A queue for a process that neither renews nor takes leases once it is dead. */
function untilDead(queue: DeploymentQueue, isDead: () => boolean): DeploymentQueue {
  const renewed = intercepted(queue, "renew", (goOn) => (isDead() ? new Promise(() => {}) : goOn()));
  return intercepted(renewed, "take", (goOn) => (isDead() ? new Promise(() => {}) : goOn()));
}

import { describe, expect, test } from "bun:test";
import { Failure } from "../../../domain/failure.ts";
import { APP, commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { eventually } from "../../support/eventually.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import {
  deployShop,
  SHOP,
  shop,
  shopProject,
  shopScene,
  runningServices,
  statuses,
  versions,
} from "../../support/apps/service_scene.ts";

const programs = (web: string, api: string) => [
  { name: "web", rootDirectory: "web", startCommand: `serve ${web}` },
  { name: "api", rootDirectory: "api", startCommand: `serve ${api}` },
];

const filesWith = (jobs: string) => ({
  "compose.yaml": [
    "services:",
    "  web: { image: 'web:1', expose: ['80'], volumes: ['./conf:/etc/conf'] }",
    `  jobs: { image: 'worker:${jobs}' }`,
  ].join("\n"),
  "conf/settings": "on",
});

describe("rejectDeployment()", () => {
  test("works again for the release that it returned to before, while the one in between is still retiring", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    for (const round of [1, 2]) {
      const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
      const { deployment } = await scene.useCases.rejectDeployment(scene.by, held.id);
      expect([round, deployment.status]).toEqual([round, "rejected"]);
    }
    const { api } = await runningServices(scene, project);
    const others = async () =>
      (await scene.memory.runtime.list()).filter((one) => one.service === "api" && one.instanceId !== api!.instanceId);
    await eventually(others, (left) => left.length === 0);
    expect(await versions(scene, project)).toEqual(SHOP);
  });

  test("leaves nothing half done when something cannot be removed after the routes are switched back", async () => {
    await using scene = await EngineScene.open();
    scene.memory.releaseImages.answers = false;
    const part = APP["package.json"]!;
    scene.known.git[REPOSITORY] = { commits: [commit("a1", { "web/package.json": part, "api/package.json": part })] };
    scene.memory.runtime.scripts.set("serve bad", { does: "ends", code: 1 });
    const project = await scene.project();
    const first = await scene.deployed(project, { services: programs("1", "1") });
    const held = await scene.deployed(project, { services: programs("2", "bad") });
    scene.memory.releaseFolders.remove = () => Promise.reject(new Failure("unavailable", "disk_away", "Cannot remove"));
    const { deployment, restoredDeploymentId } = await scene.useCases.rejectDeployment(scene.by, held.id);
    expect([deployment.status, restoredDeploymentId]).toEqual(["rejected", first.id]);
    expect(Object.keys(await runningServices(scene, project))).toEqual(["web", "api"]);
  });

  test("is finished by another server, which updates all edges, when the first was killed right after the switch back", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    // The state that a killed server leaves: the former release runs and is active, but was not announced.
    await scene.rest();
    const before = scene.memory.edge.routeOf(`${project.slug}.localhost`, "/api")!.servedBy;
    await scene.memory.projects.change(project.organizationId, project.id, {
      at: scene.memory.clock.now(),
      change: () => ({ activeDeploymentId: first.id }),
    });
    const announced: (string | null)[] = [];
    scene.memory.liveReleases.onChange((key) => void announced.push(key));
    scene.work();
    await scene.useCases.rejectDeployment(scene.by, held.id);
    expect(announced).toContain(project.id);
    expect(scene.memory.edge.routeOf(`${project.slug}.localhost`, "/api")?.servedBy).not.toBe(before);
  });

  test("keeps the files of a crashed service that came up again with the rejected deployment", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", filesWith("1"))] };
    const project = await scene.project();
    const { promise: crashed, resolve: crash } = Promise.withResolvers<void>();
    scene.memory.runtime.scripts.set("service:web", { does: "ends", code: 1, after: crashed });
    await scene.deployed(project);
    scene.memory.runtime.scripts.delete("service:web");
    crash();
    scene.known.git[REPOSITORY] = { commits: [commit("a2", filesWith("bad"))] };
    scene.memory.clock.advance(1_000);
    const held = await scene.deployed(project);
    expect(statuses(held)).toEqual({ web: "healthy", jobs: "failed" });
    await scene.useCases.rejectDeployment(scene.by, held.id);
    const { web } = await runningServices(scene, project);
    expect(await scene.folders()).toContain(web!.deploymentId);
    expect(web!.deploymentId).toBe(held.id);
  });

  test("is carried out even if a cancel was requested too late", async () => {
    const { promise: retiring, resolve: retire } = Promise.withResolvers<void>();
    const { promise: cancelled, resolve: go } = Promise.withResolvers<void>();
    let isSwitched = false;
    await using scene = await shopScene({
      replace: (world) => ({
        runtime: intercepted(world.runtime, "list", async (goOn) => {
          if (isSwitched) retire();
          if (isSwitched) await cancelled;
          return goOn();
        }),
        liveReleases: intercepted(world.liveReleases, "announce", (goOn) => {
          isSwitched = isFirstLive;
          return goOn();
        }),
      }),
    });
    let isFirstLive = false;
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    isFirstLive = true;
    const { id } = await scene.deploy(project, { services: shop({ ...SHOP, api: "2", worker: "bad" }) });
    await retiring;
    const refused = scene.useCases.cancelDeployment(scene.by, id).catch((error: unknown) => error);
    await scene.until(id, ({ cancelRequested }) => cancelRequested);
    go();
    expect(await refused).toMatchObject({ code: "deployment_not_movable" });
    const { deployment } = await scene.useCases.rejectDeployment(scene.by, id);
    expect(deployment.status).toBe("rejected");
  });

  test("is streamed to followers to its end, even when it fails", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const held = await deployShop(scene, project, { ...SHOP, api: "2", worker: "bad" });
    const since = await scene.memory.deploymentEvents.last(held.id);
    const { signal } = new AbortController();
    const caller = () => Promise.resolve(scene.by);
    const follow = () => scene.useCases.followDeployment(scene.by, held.id, { since, signal, caller });
    expect(await follow()).toBeUndefined();
    scene.memory.runtime.scripts.set("service:api", { does: "ends", code: 1 });
    await scene.rest();
    const refused = scene.useCases.rejectDeployment(scene.by, held.id).catch((error: unknown) => error);
    await scene.until(held.id, ({ pendingDecision }) => pendingDecision !== null);
    const following = (await follow())!;
    scene.work();
    const events = (await Array.fromAsync(following)).flat();
    expect(events.at(-1)).toMatchObject({ type: "end", status: "partial_failure", error: { code: "reject_failed" } });
    expect(await refused).toMatchObject({ code: "reject_failed" });
    scene.memory.runtime.scripts.delete("service:api");
    const { deployment } = await scene.useCases.rejectDeployment(scene.by, held.id);
    expect([deployment.status, deployment.error?.code]).toEqual(["rejected", "services_failed"]);
    expect(deployment).toMatchObject({ urls: [], artifactAvailable: false });
    expect(deployment.services.map(({ name, status, url }) => `${name} ${status} ${url}`).toSorted()).toEqual([
      "api stopped null",
      "db stopped null",
      "migrate stopped null",
      "web stopped null",
      "worker failed null",
    ]);
  });
});

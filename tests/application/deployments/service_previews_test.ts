import { describe, expect, test } from "bun:test";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { EngineScene } from "../../support/apps/engine_scene.ts";
import { deployShop, SHOP, shop, shopProject, shopScene, type Versions } from "../../support/apps/service_scene.ts";

const preview = (scene: EngineScene, project: Project, wanted: Versions = SHOP) =>
  scene.deployed(project, { services: shop(wanted), environment: "preview" });

describe("a preview of several services", () => {
  test("fails as a whole when a service does not come up, and waits for no decision", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const live = await deployShop(scene, project, SHOP);
    const failed = await preview(scene, project, { ...SHOP, worker: "bad" });
    expect([failed.status, failed.decision]).toEqual(["failed", null]);
    expect(failed.error?.message).toContain("worker");
    expect(new Set(await scene.running())).toEqual(new Set([live.id]));
    expect(await scene.memory.volumes.list(failed.id)).toEqual([]);
    expect((await deployShop(scene, project, { ...SHOP, web: "2" })).status).toBe("ready");
  });

  test("runs one-off services again in a rollback: its volumes are new", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const first = await preview(scene, project);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect([back.status, back.error]).toEqual(["ready", null]);
    expect(scene.memory.runtime.started.filter(({ service }) => service === "migrate")).toHaveLength(2);
  });

  test("is deleted with its volumes, and leaves those of its project", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    await deployShop(scene, project, SHOP);
    const { id } = await preview(scene, project);
    await scene.useCases.removeDeployment(scene.by, id);
    expect(await scene.memory.volumes.list(id)).toEqual([]);
    expect(await scene.memory.volumes.list(project.id)).toHaveLength(1);
  });

  test("that a killed server left behind is swept with its volumes", async () => {
    await using scene = await shopScene();
    const project = await shopProject(scene);
    const { id } = await preview(scene, project);
    await scene.memory.deployments.remove(project.organizationId, id);
    await sweepReleases(scene.memory, 2)();
    expect(await scene.running()).toEqual([]);
    expect(await scene.memory.volumes.list(id)).toEqual([]);
  });
});

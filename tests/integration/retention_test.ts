import { describe, expect, test } from "bun:test";
import type { Project } from "../../domain/projects/project.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Deployments } from "../../ports/deployments/deployments.ts";
import { EngineScene } from "../support/apps/engine_scene.ts";
import { intercepted } from "../support/faults/intercepted.ts";

async function several(scene: EngineScene, project: Project, count: number): Promise<Deployment[]> {
  const made: Deployment[] = [];
  for (let index = 0; index < count; index++) {
    scene.memory.clock.advance(1_000);
    made.push(await scene.deployed(project));
  }
  return made;
}

async function available(scene: EngineScene, project: Project): Promise<string[]> {
  const all = await scene.memory.deployments.ofProject(project.id);
  return all.filter(({ artifactAvailable }) => artifactAvailable).map(({ id }) => id);
}

const pinned = (deployment: Deployment) => ({ deployment: { ...deployment, pinned: true }, events: [] });
const ids = (deployments: readonly Deployment[]) => deployments.map(({ id }) => id);

describe("release folders", () => {
  test("stay for the live release and as many former ones as the window allows, over 30 deployments", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 3 } });
    const project = await scene.project();
    const made = await several(scene, project, 30);
    const kept = ids(made.slice(-4));
    expect((await scene.folders()).toSorted()).toEqual(kept.toSorted());
    expect(await available(scene, project)).toEqual(kept.toReversed());
  });

  test("stay by the project's own window if it has one", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 5 } });
    const project = await scene.project({ gitUrl: "https://git.example.com/acme/shop.git", rollbackWindow: 1 });
    const made = await several(scene, project, 4);
    expect((await scene.folders()).toSorted()).toEqual(ids(made.slice(-2)).toSorted());
  });

  test("of pinned releases are never cleaned and do not count in the window", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await several(scene, project, 1);
    await scene.useCases.pinDeployment(scene.by, first!.id, true);
    const made = await several(scene, project, 5);
    expect((await scene.folders()).toSorted()).toEqual([first!.id, ...ids(made.slice(-2))].toSorted());
    await scene.useCases.pinDeployment(scene.by, first!.id, false);
    const [last] = await several(scene, project, 1);
    expect((await scene.folders()).toSorted()).toEqual([made.at(-1)!.id, last!.id].toSorted());
  });

  test("of a release that is pinned while others are cleaned stay", async () => {
    let toPin: string | undefined;
    await using scene = await EngineScene.open({
      engine: { rollbackWindow: 1 },
      replace: ({ deployments }) => ({
        deployments: intercepted<Deployments>(deployments, "ofProject", async (goOn) => {
          const all = await goOn();
          if (toPin !== undefined) await deployments.change(toPin, pinned);
          return all;
        }),
      }),
    });
    const project = await scene.project();
    const [first] = await several(scene, project, 2);
    toPin = first!.id;
    await several(scene, project, 1);
    expect(await scene.folders()).toContain(first!.id);
    expect(await available(scene, project)).toContain(first!.id);
  });

  test("of previews stay, and previews do not displace former releases", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await several(scene, project, 1);
    scene.memory.clock.advance(1_000);
    const preview = await scene.deployed(project, { environment: "preview" });
    expect((await scene.folders()).toSorted()).toEqual([first!.id, preview.id].toSorted());
    const made = await several(scene, project, 3);
    expect((await scene.folders()).toSorted()).toEqual([preview.id, ...ids(made.slice(-2))].toSorted());
  });

  test("of failed and cancelled deployments are removed at once, and do not displace former releases", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const made = await several(scene, project, 2);
    scene.healthy = () => false;
    await several(scene, project, 3);
    expect((await scene.folders()).toSorted()).toEqual(ids(made).toSorted());
  });

  test("stay as long as a rollback runs from them", async () => {
    await using scene = await EngineScene.open({ engine: { rollbackWindow: 1 } });
    const project = await scene.project();
    const [first] = await several(scene, project, 2);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first!.id)).id);
    expect(await scene.folders()).toContain(first!.id);
    await several(scene, project, 1);
    expect(await scene.folders()).toContain(first!.id);
    await several(scene, project, 1);
    expect(await scene.folders()).not.toContain(first!.id);
    expect((await scene.memory.deployments.get(back.id))?.artifactAvailable).toBe(false);
  });
});

describe("deleting", () => {
  test("the live release stops it, and its project serves nothing", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const { id } = await scene.deployed(project);
    await scene.useCases.removeDeployment(scene.by, id);
    expect(scene.served(project)).toBeUndefined();
    expect(await scene.running()).toEqual([]);
    expect(await scene.folders()).toEqual([]);
    expect(await scene.memory.liveReleases.find(project.id)).toBeUndefined();
    await expect(scene.useCases.viewDeployment(scene.by, id)).rejects.toMatchObject({ code: "deployment_not_found" });
    expect((await scene.deployed(project)).status).toBe("ready");
  });

  test("a former release leaves the live one alone", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const [first, second] = await several(scene, project, 2);
    await scene.useCases.removeDeployment(scene.by, first!.id);
    expect(scene.served(project)).toBe(second!.id);
    expect(await scene.folders()).toEqual([second!.id]);
  });

  test("a release keeps its files for a rollback that runs from them", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const [first] = await several(scene, project, 2);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first!.id)).id);
    await scene.useCases.removeDeployment(scene.by, first!.id);
    expect(await scene.folders()).toContain(first!.id);
    await scene.useCases.removeDeployment(scene.by, back.id);
    expect(await scene.folders()).not.toContain(first!.id);
  });

  test("a release keeps its files for a queued rollback to it", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const [first] = await several(scene, project, 2);
    await scene.rest();
    scene.memory.clock.advance(1_000);
    const { id } = await scene.useCases.rollback(scene.by, first!.id);
    await scene.useCases.removeDeployment(scene.by, first!.id);
    scene.work();
    expect(await scene.settled(id)).toMatchObject({ status: "ready", artifactOf: first!.id });
  });

  test("a preview removes its address", async () => {
    await using scene = await EngineScene.open();
    const project = await scene.project();
    const preview = await scene.deployed(project, { environment: "preview" });
    await scene.useCases.removeDeployment(scene.by, preview.id);
    expect(scene.memory.edge.routeOf(new URL(preview.urls[0]!).hostname, "/")).toBeUndefined();
    expect(await scene.running()).toEqual([]);
  });

  test.each(["queued", "building"] as const)("a deployment that is %s is refused", async (status) => {
    await using scene = await EngineScene.open();
    scene.scriptBuild({ hangs: true });
    const project = await scene.project();
    const { id } = await scene.deploy(project, { start: status === "building" });
    await scene.until(id, (deployment) => deployment.status === status);
    await expect(scene.useCases.removeDeployment(scene.by, id)).rejects.toMatchObject({ code: "deployment_running" });
    await scene.useCases.cancelDeployment(scene.by, id);
    await scene.useCases.removeDeployment(scene.by, id);
    expect(await scene.memory.deployments.get(id)).toBeUndefined();
  });
});

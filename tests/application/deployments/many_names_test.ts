import { expect, test } from "bun:test";
import { followLiveReleases } from "../../../application/deployments/follow_live_releases.ts";
import { currentRoutes } from "../../../application/deployments/restore_releases.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { EngineScene } from "../../support/apps/engine_scene.ts";
import { intercepted } from "../../support/faults/intercepted.ts";
import { domainOf, minutes } from "../../support/database/store_builders.ts";

const MANY = 250;

/** Adds many verified domain names to a project, all newer than its free one. */
async function giveNames(scene: EngineScene, { id: projectId, organizationId }: Project): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; index < MANY; index++) {
    const domain = domainOf({
      organizationId,
      projectId,
      verifiedAt: minutes(0),
      createdAt: minutes(1_000_000 + index),
    });
    await scene.memory.domains.claim(domain);
    names.push(domain.hostname);
  }
  return names;
}

/** The scene's ports, with counters of name and instance lookups. */
function counted(scene: EngineScene) {
  const lookups = { names: 0, instances: 0 };
  const domains = intercepted(scene.world.domains, "ofProjects", (goOn) => {
    lookups.names++;
    return goOn();
  });
  const runtime = intercepted(scene.world.runtime, "find", (goOn) => {
    lookups.instances++;
    return goOn();
  });
  return { lookups, ports: { ...scene.world, domains, runtime } };
}

test("all names of a project are served, however many, including its own free one", async () => {
  await using scene = await EngineScene.open();
  const project = await scene.project();
  const names = [...(await giveNames(scene, project)), `${project.slug}.localhost`];
  const live = await scene.deployed(project);
  const served = names.map((name) => scene.memory.edge.routeOf(name, "/")?.servedBy.split("-")[0]);
  expect(served).toEqual(names.map(() => live.id));
  expect(live.urls.toSorted()).toEqual(names.map((name) => `http://${name}:4480`).toSorted());
});

test("following all releases takes one query for their names, and one for each instance that they lead to", async () => {
  await using scene = await EngineScene.open();
  const projects = [await scene.project(), await scene.project(), await scene.project()];
  for (const project of projects) {
    await giveNames(scene, project);
    await scene.deployed(project);
  }
  const { lookups, ports } = counted(scene);
  expect(await followLiveReleases(ports, { baseDomain: "localhost" })(null)).toBe(true);
  expect(lookups).toEqual({ names: 1, instances: projects.length });
  for (const project of projects) expect(scene.served(project)).toBeDefined();
});

test("the routes to all releases take one query for their names", async () => {
  await using scene = await EngineScene.open();
  const projects = [await scene.project(), await scene.project()];
  for (const project of projects) {
    await giveNames(scene, project);
    await scene.deployed(project);
  }
  const { lookups, ports } = counted(scene);
  const routes = await currentRoutes(ports, { baseDomain: "localhost" })();
  expect(routes).toHaveLength(projects.length * (MANY + 1));
  expect(lookups.names).toBe(1);
});

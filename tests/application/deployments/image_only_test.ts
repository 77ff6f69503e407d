import { expect, test } from "bun:test";
import { MemoryHostFolders } from "../../../adapters/memory/host_folders.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import { commit, type EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene, statuses } from "../../support/apps/service_scene.ts";

const SERVICES = [{ name: "web", image: "web:1", ports: [80] }];
const MOUNTING = [{ ...SERVICES[0]!, volumes: ["./conf:/etc/web:ro"] }];

function fetches({ steps }: Deployment): readonly (string | undefined)[] {
  return steps.filter(({ name }) => name === "fetch").map(({ status }) => status);
}

async function again(scene: EngineScene, id: string, useExistingCommit = false): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.settled((await scene.useCases.redeploy(scene.by, id, { useExistingCommit })).id);
}

const LINKS: readonly ProjectSettings[] = [{ gitUrl: REPOSITORY }, { localPath: "/srv/shop" }];

test.each(LINKS)("services that are all images are deployed without the unreachable source of %j", async (link) => {
  const hostFolders = new MemoryHostFolders(["/srv/shop"]);
  await using scene = await shopScene({ replace: () => ({ hostFolders }) });
  delete scene.known.git[REPOSITORY];
  const project = await scene.project(link);
  const branch = link.gitUrl ? { branch: "main" } : {};
  const first = await scene.deployed(project, { services: SERVICES, ...branch });
  expect([first.status, first.error, first.source.kind]).toEqual(["ready", null, "none"]);
  expect(fetches(first)).toEqual(["done"]);
  for (const exact of [false, true]) {
    const next = await again(scene, first.id, exact);
    expect([next.status, next.source.kind, statuses(next)]).toEqual(["ready", "none", { web: "unchanged" }]);
  }
});

test("services of the project that are all images by now are redeployed without its source", async () => {
  await using scene = await shopScene();
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { "web/Dockerfile": "FROM scratch" })] };
  const project = await scene.project({ gitUrl: REPOSITORY, services: [{ name: "web", build: "web", ports: [80] }] });
  const first = await scene.deployed(project);
  expect([first.status, first.source.kind]).toEqual(["ready", "git"]);
  await scene.useCases.changeProject(scene.by, project.id, { settings: { services: SERVICES } });
  delete scene.known.git[REPOSITORY];
  for (const exact of [false, true]) {
    const next = await again(scene, first.id, exact);
    expect([next.status, next.error, next.source.kind]).toEqual(["ready", null, "none"]);
  }
});

test("services that are images and mount files of the source are deployed with them where there is one", async () => {
  await using scene = await shopScene();
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { "conf/web.ini": "fast" })] };
  const linked = await scene.deployed(await scene.project(), { services: MOUNTING });
  expect([linked.status, linked.source.kind]).toEqual(["ready", "git"]);
  expect(scene.memory.runtime.started[0]!.runs).toMatchObject({ mounts: [{ kind: "path", target: "/etc/web" }] });
  const unlinked = await scene.deployed(await scene.project({}), { services: MOUNTING });
  expect([unlinked.status, unlinked.source.kind]).toEqual(["ready", "none"]);
});

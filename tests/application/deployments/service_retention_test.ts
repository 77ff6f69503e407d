import { describe, expect, test } from "bun:test";
import { sweepReleases } from "../../../application/deployments/cleanup/sweep_releases.ts";
import { commit, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene, statuses } from "../../support/apps/service_scene.ts";

/** A service that mounts files of its source, plus other services. */
function filesWith(others: string): Record<string, string> {
  return {
    "compose.yaml": `services:\n  web: { image: 'web:1', expose: ['80'], volumes: ['./conf:/etc/conf'] }\n${others}`,
    "conf/settings": "on",
  };
}

const WORKER = "  jobs: { image: 'worker:1' }\n";

describe("the files of a service that later deployments left unchanged", () => {
  test.each([
    ["one service", ""],
    ["several", WORKER],
  ])("stay, however many deployments of %s follow", async (_, others) => {
    await using scene = await shopScene({ engine: { rollbackWindow: 1 } });
    scene.known.git[REPOSITORY] = { commits: [commit("a1", filesWith(others))] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    for (let count = 0; count < 4; count++) {
      scene.memory.clock.advance(1_000);
      expect(statuses(await scene.deployed(project))["web"]).toBe("unchanged");
    }
    expect(await scene.folders()).toContain(first.id);
    expect(await scene.folders()).toHaveLength(3);
  });

  test("stay when the deployment that they came with is deleted", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", filesWith(WORKER))] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    await scene.useCases.removeDeployment(scene.by, first.id);
    await sweepReleases(scene.memory, 2)();
    expect(await scene.folders()).toContain(first.id);
  });

  test("stay when it is deleted while no engine can list what runs", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", filesWith(WORKER))] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    scene.memory.clock.advance(1_000);
    const second = await scene.deployed(project);
    scene.memory.runtime.list = async () => [];
    await scene.useCases.removeDeployment(scene.by, first.id);
    await sweepReleases(scene.memory, 2)();
    expect(await scene.folders()).toContain(first.id);
    await scene.useCases.removeDeployment(scene.by, second.id);
    await sweepReleases(scene.memory, 2)();
    expect(await scene.folders()).toEqual([]);
  });
});

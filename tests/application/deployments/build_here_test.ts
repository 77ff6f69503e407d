import { describe, expect, test } from "bun:test";
import { cleanImages } from "../../../application/deployments/cleanup/clean_images.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { serverOf } from "../../../domain/deployments/instance_id.ts";
import { commit, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { type ServerScene, serverScene } from "../../support/apps/server_scene.ts";

const FILES = { Dockerfile: "FROM debian\nEXPOSE 9000\n", "server.js": "" };

/** A scene with a project whose deployments are built on this machine and run on Berlin. */
async function built() {
  const world = await serverScene();
  const { scene, servers, berlin } = world;
  scene.known.git[REPOSITORY] = { commits: [commit("a1", FILES)] };
  const project = await scene.project();
  const place = { deployTarget: "server", serverId: berlin } as const;
  return Object.assign(world, {
    project,
    there: servers.engine(berlin),
    async deploy(buildStrategy: "local" | "server" = "local"): Promise<Deployment> {
      scene.memory.clock.advance(1_000);
      return scene.deployed(project, { ...place, buildStrategy });
    },
  });
}

/** Where images were built: the deployments on this machine, and those on Berlin. */
const builds = ({ scene, servers, berlin }: ServerScene) => {
  const both = [scene.memory.imageBuilder, servers.engine(berlin).imageBuilder];
  return both.map(({ requests }) => requests.map(({ deploymentId }) => deploymentId));
};

describe('a deployment to a server with buildStrategy "local"', () => {
  test("is built here, sent, kept and run there", async () => {
    await using world = await built();
    const { scene, servers, berlin, there } = world;
    const ready = await world.deploy();
    expect(ready).toMatchObject({ status: "ready", error: null, plan: { serverId: berlin } });
    expect(builds(world)).toEqual([[ready.id], []]);
    expect(there.imageTransfer.sent).toEqual([ready.image!]);
    expect(await there.releaseImages.find(ready.id, "app")).toMatchObject({ image: ready.image });
    expect(ready.services.map(({ instanceId }) => serverOf(instanceId!))).toEqual([berlin]);
    expect(await servers.running(berlin)).toMatchObject([{ deploymentId: ready.id, image: ready.image }]);
    expect(await scene.running()).toEqual([]);
    expect(await scene.log(ready.id)).toContainEqual(expect.stringMatching(/^Sent the image to the server: /));
    // Its image on this machine is cleaned up like those that run here.
    expect(await scene.memory.installation.usesContainers()).toBe(true);
  });

  test("is redeployed in the same way, and rolled back without being built or sent again", async () => {
    await using world = await built();
    const { scene, there } = world;
    const first = await world.deploy();
    const again = await scene.settled((await scene.useCases.redeploy(scene.by, first.id, {})).id);
    expect([again.status, builds(world)]).toEqual(["ready", [[first.id, again.id], []]]);
    scene.memory.clock.advance(1_000);
    const back = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    expect([back.status, back.image]).toEqual(["ready", first.image]);
    expect(there.imageTransfer.sent).toEqual([first.image!, again.image!]);
    const other = await world.deploy("server");
    expect([other.status, builds(world)[1]]).toEqual(["ready", [other.id]]);
  });

  test.each([
    ["does not accept the image", "image_refused"],
    ["is away", "engine_away"],
  ] as const)("fails with the reason if the server %s, and the former release stays", async (_, code) => {
    await using world = await built();
    const { scene, servers, berlin, project, there } = world;
    const first = await world.deploy();
    if (code === "image_refused") there.imageTransfer.server = "refuses";
    else scene.memory.imageBuilder.otherwise = { effect: () => void servers.away.add(berlin) };
    const failed = await world.deploy();
    servers.away.clear();
    expect(failed).toMatchObject({ status: "failed", error: { code, step: "build" } });
    expect(scene.served(project)).toBe(first.id);
    expect((await servers.running(berlin)).map(({ deploymentId }) => deploymentId)).toEqual([first.id]);
    expect(await there.releaseImages.find(failed.id, "app")).toBeUndefined();
  });

  test("that is cancelled while its image is sent ends at once, and leaves nothing that is not cleaned up", async () => {
    await using world = await built();
    const { scene, servers, berlin, project, there } = world;
    there.imageTransfer.server = "hangs";
    const begun = await scene.deploy(project, { serverId: berlin, buildStrategy: "local" });
    await scene.until(begun.id, () => scene.memory.imageBuilder.requests.length === 1);
    await scene.useCases.cancelDeployment(scene.by, begun.id);
    expect((await scene.settled(begun.id)).status).toBe("cancelled");
    expect(there.imageTransfer.sent).toEqual([]);
    expect(await servers.running(berlin)).toEqual([]);
    await cleanImages(scene.memory)();
    expect(await scene.memory.releaseImages.list()).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../adapters/memory/sources.ts";
import { cleanImages } from "../../application/deployments/cleanup/clean_images.ts";
import { sweepReleases } from "../../application/deployments/cleanup/sweep_releases.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import { serverOf } from "../../domain/deployments/instance_id.ts";
import type { Project } from "../../domain/projects/project.ts";
import { eventually } from "../support/eventually.ts";
import { commit, type EngineScene, REPOSITORY } from "../support/apps/engine_scene.ts";
import { type ServerScene, serverScene } from "../support/apps/server_scene.ts";
import { SHOP, shop, shopProject, statuses } from "../support/apps/service_scene.ts";

const DOCKERFILE: SourceFiles = { Dockerfile: "FROM debian\nEXPOSE 9000\n", "server.js": "" };

const project = (scene: EngineScene, files = DOCKERFILE) => {
  scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
  return scene.project();
};

const onServer = (serverId: string) => ({ deployTarget: "server", serverId }) as const;

/** Deploys and waits until the deployment is ready. */
async function next(...given: Parameters<typeof attempt>): Promise<Deployment> {
  const deployment = await attempt(...given);
  expect(deployment).toMatchObject({ status: "ready", error: null });
  return deployment;
}

/** Deploys and waits until the deployment has settled. */
function attempt(scene: EngineScene, which: Project, request: Parameters<EngineScene["deploy"]>[1] = {}) {
  scene.memory.clock.advance(1_000);
  return scene.deployed(which, request);
}

/** Goes back to a deployment and waits until that is ready. */
async function back(scene: EngineScene, id: string): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  const deployment = await scene.settled((await scene.useCases.rollback(scene.by, id)).id);
  expect(deployment).toMatchObject({ status: "ready", error: null });
  return deployment;
}

/** The servers that the services of a deployment run on; `null` for this machine. */
const placesOf = ({ services }: Deployment) => [...new Set(services.map(({ instanceId }) => serverOf(instanceId!)))];

const placeOf = async ({ memory }: EngineScene, { id, organizationId }: Project) => {
  const { location, serverId } = (await memory.projects.find(organizationId, id))!;
  return [location, serverId];
};

/** The deployments that run on a server. */
const runningOn = async ({ servers }: ServerScene, serverId: string) => [
  ...new Set((await servers.running(serverId)).map(({ deploymentId }) => deploymentId)),
];

describe("a deployment to a server", () => {
  test("is built and run by the engine of the server, and stored with its place", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await project(scene);
    const ready = await next(scene, made, onServer(berlin));
    expect(ready.plan).toMatchObject({ serverId: berlin, runtime: "docker" });
    expect(placesOf(ready)).toEqual([berlin]);
    expect(servers.engine(berlin).imageBuilder.requests).toMatchObject([{ deploymentId: ready.id }]);
    expect(scene.memory.imageBuilder.requests).toEqual([]);
    expect(await runningOn(world, berlin)).toEqual([ready.id]);
    expect(await scene.running()).toEqual([]);
    expect(await placeOf(scene, made)).toEqual(["server", berlin]);
    expect(scene.served(made)).toBe(ready.id);
    expect(await scene.memory.installation.usesContainers()).toBe(false);
    expect(await servers.inUse()).toEqual([berlin]);
  });

  test("gets images from registries with the engine of the server", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await shopProject(scene);
    const ready = await next(scene, made, { services: shop(SHOP), ...onServer(berlin) });
    expect(placesOf(ready)).toEqual([berlin]);
    expect(servers.engine(berlin).imageRegistry.asked).toHaveLength(5);
    expect(scene.memory.imageRegistry.asked).toEqual([]);
    expect(await servers.engine(berlin).volumes.list(made.id)).toHaveLength(1);
    expect(await scene.memory.volumes.list(made.id)).toEqual([]);
  });

  test("needs no container engine on this machine, and asks a server about a project of its own alone", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin, paris } = world;
    scene.memory.containerEngine.running = false;
    scene.memory.imageBuilder.answers = false;
    scene.memory.releaseImages.answers = false;
    await next(scene, await project(scene), onServer(berlin));
    await next(scene, await shopProject(scene), { services: shop(SHOP), ...onServer(berlin) });
    expect(servers.calls.filter((call) => call.startsWith(paris))).toEqual([]);
  });

  test("without a target follows its project, and a target of this machine moves it back", async () => {
    await using world = await serverScene();
    const { scene, berlin, paris } = world;
    const made = await project(scene);
    await next(scene, made, onServer(berlin));
    const followed = await next(scene, made);
    expect([followed.plan.serverId, placesOf(followed)]).toEqual([berlin, [berlin]]);
    const again = await scene.settled((await scene.useCases.redeploy(scene.by, followed.id, {})).id);
    expect([again.status, again.plan.serverId]).toEqual(["ready", berlin]);
    const moved = await next(scene, made, { serverId: paris });
    expect([moved.plan.serverId, await placeOf(scene, made)]).toEqual([paris, ["server", paris]]);
    const home = await next(scene, made, { deployTarget: "local" });
    expect([home.plan.serverId, placesOf(home)]).toEqual([undefined, [null]]);
    expect(await placeOf(scene, made)).toEqual(["local", null]);
    expect(placesOf(await next(scene, made))).toEqual([null]);
  });

  test("that waits goes where its project is when it begins", async () => {
    await using world = await serverScene();
    const { scene, berlin } = world;
    const made = await project(scene);
    await scene.rest();
    const waiting = await scene.deploy(made);
    await scene.deploy(made, onServer(berlin));
    scene.work();
    expect(await scene.settled(waiting.id)).toMatchObject({ status: "ready", plan: { serverId: berlin } });
  });

  test("removes the former release from where it ran, after a move", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin, paris } = world;
    const made = await project(scene);
    const none = async () => (await runningOn(world, berlin)).length + (await runningOn(world, paris)).length === 0;
    await next(scene, made, onServer(berlin));
    await next(scene, made, onServer(paris));
    expect(
      await eventually(
        () => runningOn(world, berlin),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
    const home = await next(scene, made, { deployTarget: "local" });
    expect(await eventually(none, Boolean)).toBe(true);
    expect(await scene.running()).toEqual([home.id]);
    await next(scene, made, onServer(berlin));
    expect(
      await eventually(
        () => scene.running(),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
    expect(await servers.inUse()).toEqual([berlin, paris].toSorted());
  });

  test("keeps unchanged services on the same server, and replaces all of them when the project moves", async () => {
    await using world = await serverScene();
    const { scene, berlin, paris } = world;
    const made = await shopProject(scene);
    await next(scene, made, { services: shop(SHOP), ...onServer(berlin) });
    const same = await next(scene, made, { services: shop({ ...SHOP, web: "2" }) });
    const unchanged = { api: "unchanged", worker: "unchanged", migrate: "unchanged", db: "unchanged" };
    expect(statuses(same)).toEqual({ ...unchanged, web: "healthy" });
    expect(placesOf(same)).toEqual([berlin]);
    for (const place of [onServer(paris), { deployTarget: "local" } as const]) {
      const moved = await next(scene, made, { services: shop({ ...SHOP, web: "2" }), ...place });
      expect(Object.values(statuses(moved))).not.toContain("unchanged");
      expect(placesOf(moved)).toEqual([moved.plan.serverId ?? null]);
    }
  });
});

describe("a rollback", () => {
  test("to a deployment that ran elsewhere runs there again, without a build", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await project(scene);
    const here = await next(scene, made);
    const there = await next(scene, made, onServer(berlin));
    const home = await back(scene, here.id);
    expect([home.image, placesOf(home)]).toEqual([here.image, [null]]);
    expect(await scene.running()).toContain(home.id);
    const again = await back(scene, there.id);
    expect([again.image, placesOf(again)]).toEqual([there.image, [berlin]]);
    expect(scene.served(made)).toBe(again.id);
    expect(scene.memory.imageBuilder.requests).toHaveLength(1);
    expect(servers.engine(berlin).imageBuilder.requests).toHaveLength(1);
    expect(await placeOf(scene, made)).toEqual(["server", berlin]);
  });

  test("to an image that is gone from the server builds it there again", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await project(scene);
    const there = await next(scene, made, onServer(berlin));
    await next(scene, made, { deployTarget: "local" });
    await servers.engine(berlin).releaseImages.remove(there.id);
    const again = await back(scene, there.id);
    expect(placesOf(again)).toEqual([berlin]);
    expect(await runningOn(world, berlin)).toContain(again.id);
    expect(servers.engine(berlin).imageBuilder.requests).toHaveLength(2);
  });

  test("by a rejected partial failure after a move brings the former services back where they ran", async () => {
    await using world = await serverScene();
    const { scene, berlin, paris } = world;
    const made = await shopProject(scene);
    await next(scene, made, { services: shop(SHOP), ...onServer(berlin) });
    const request = { services: shop({ ...SHOP, worker: "bad" }), ...onServer(paris) };
    const held = await attempt(scene, made, request);
    expect([held.status, held.decision]).toEqual(["partial_failure", "pending"]);
    await scene.useCases.rejectDeployment(scene.by, held.id);
    const live = (await scene.memory.liveReleases.find(made.id))!.deployment;
    const running = live.services.filter(({ instanceId }) => instanceId !== null);
    expect(running.map(({ name }) => name).toSorted()).toEqual(["api", "db", "web", "worker"]);
    expect(placesOf({ ...live, services: running })).toEqual([berlin]);
    expect(
      await eventually(
        () => runningOn(world, paris),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
  });
});

describe("what is left on a server", () => {
  test("volumes of a preview are removed there with it, and those of its project stay", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await shopProject(scene);
    const { volumes } = servers.engine(berlin);
    await next(scene, made, { services: shop(SHOP), ...onServer(berlin) });
    const preview = await next(scene, made, { services: shop(SHOP), environment: "preview" });
    expect(placesOf(preview)).toEqual([berlin]);
    expect(await volumes.list(preview.id)).toHaveLength(1);
    expect(await scene.useCases.listVolumes(scene.by, made.id)).toHaveLength(2);
    await scene.useCases.removeDeployment(scene.by, preview.id);
    expect([await volumes.list(preview.id), await volumes.list(made.id)]).toEqual([[], [expect.anything()]]);
  });

  test("a deleted project, the only one there, leaves no instance, and no volume if that is asked for", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await shopProject(scene);
    await next(scene, made, { services: shop(SHOP), ...onServer(berlin) });
    await scene.useCases.removeProject(scene.by, made.id, { volumes: true });
    expect(await servers.running(berlin)).toEqual([]);
    expect(await servers.engine(berlin).volumes.list(made.id)).toEqual([]);
  });

  test("instances of a project that was deleted while its server was away are swept when it is back", async () => {
    await using world = await serverScene();
    const { scene, servers, berlin } = world;
    const made = await project(scene);
    await next(scene, made, onServer(berlin));
    servers.away.add(berlin);
    await scene.useCases.removeProject(scene.by, made.id);
    expect(await servers.running(berlin)).toHaveLength(1);
    servers.away.delete(berlin);
    await sweepReleases(scene.world, 2)();
    expect(await servers.running(berlin)).toEqual([]);
  });

  test("images that no release needs are removed by the engine of the server", async () => {
    await using world = await serverScene({ engine: { rollbackWindow: 1 } });
    const { scene, servers, berlin } = world;
    const made = await project(scene);
    const all: Deployment[] = [];
    for (let round = 0; round < 3; round++) all.push(await next(scene, made, onServer(berlin)));
    const { releaseImages } = servers.engine(berlin);
    const kept = async () => (await releaseImages.list()).map(({ deploymentId }) => deploymentId).toSorted();
    expect(await kept()).toEqual(all.slice(1).map(({ id }) => id));
    await scene.useCases.removeProject(scene.by, made.id);
    await sweepReleases(scene.world, 1)();
    await cleanImages({ ...scene.world, releaseImages })();
    expect(await kept()).toEqual([]);
  });
});

test("files of the source cannot be mounted on a server, and the reason names them", async () => {
  await using world = await serverScene();
  const { scene, berlin } = world;
  scene.known.git[REPOSITORY] = { commits: [commit("a1", { "conf/web.ini": "fast" })] };
  const services = [{ name: "web", image: "web:1", ports: [80], volumes: ["./conf:/etc/web:ro"] }];
  const failed = await attempt(scene, await scene.project(), { services, ...onServer(berlin) });
  expect(failed).toMatchObject({ status: "failed", error: { code: "source_not_there" } });
  expect(failed.error!.message).toStartWith("Cannot mount conf into web: ");
});

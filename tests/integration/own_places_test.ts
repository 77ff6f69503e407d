import { describe, expect, test } from "bun:test";
import { pendingService } from "../../application/deployments/engine/changeover/service_ledger.ts";
import { planOf } from "../../application/deployments/make_deployment.ts";
import { instancesAt } from "../../application/services/instances_at.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { InstanceListOptions } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";
import { commit, type EngineScene, REPOSITORY } from "../support/apps/engine_scene.ts";
import { type ServerScene, serverScene } from "../support/apps/server_scene.ts";

const DOCKERFILE = { Dockerfile: "FROM debian\nEXPOSE 9000\n", "server.js": "" };

/** Deploys and waits until the deployment is ready. */
async function next(scene: EngineScene, project: Project, serverId?: string): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  const place = serverId === undefined ? ({ deployTarget: "local" } as const) : { serverId };
  const deployment = await scene.deployed(project, place);
  expect(deployment).toMatchObject({ status: "ready", error: null });
  return deployment;
}

/** A scene in which another project runs on Paris, so that everything that looks everywhere looks there too. */
async function withNeighbour(): Promise<ServerScene & { readonly project: Project }> {
  const world = await serverScene();
  const { scene, servers, paris } = world;
  scene.known.git[REPOSITORY] = { commits: [commit("a1", DOCKERFILE)] };
  await next(scene, await scene.project(), paris);
  expect(await servers.inUse()).toEqual([paris]);
  servers.calls.length = 0;
  return Object.assign(world, { project: await scene.project() });
}

/** What was asked of the engines of servers since the neighbour was deployed, by server. */
const askedOf = ({ servers }: ServerScene, serverId: string) =>
  servers.calls.filter((call) => call.startsWith(serverId));

type Placed = Pick<Deployment, "plan" | "services">;

/** A deployment to a place, with services that have these instances. */
function deployedTo(serverId: string | null, ...instances: readonly string[]): Placed {
  const plan = planOf({ location: serverId === null ? "local" : "server", serverId, settings: {} });
  return { plan, services: instances.map((instanceId) => ({ ...pendingService("app", null), instanceId })) };
}

/** What the runtime is asked for these deployments. */
async function asked(...deployments: readonly Placed[]): Promise<readonly InstanceListOptions[]> {
  const all: InstanceListOptions[] = [];
  const list = (options: InstanceListOptions = {}) => Promise.resolve(all.push(options)).then(() => []);
  await instancesAt({ runtime: { list } }, deployments);
  return all;
}

describe("what a project leaves behind is looked for where it ran, and nowhere else", () => {
  test("a new release removes its former one without asking another server", async () => {
    await using world = await withNeighbour();
    const { scene, servers, project, berlin, paris } = world;
    await next(scene, project, berlin);
    const second = await next(scene, project, berlin);
    const left = await eventually(
      async () => (await servers.running(berlin)).map(({ deploymentId }) => deploymentId),
      (ids) => ids.length === 1,
    );
    expect(left).toEqual([second.id]);
    const home = await next(scene, project);
    expect(
      await eventually(
        () => servers.running(berlin),
        (ids) => ids.length === 0,
      ),
    ).toEqual([]);
    expect(await scene.running()).toEqual([home.id]);
    expect(askedOf(world, paris)).toEqual([]);
  });

  test("a deleted deployment and a deleted project ask the servers that they ran on alone", async () => {
    await using world = await withNeighbour();
    const { scene, servers, project, berlin, paris } = world;
    const there = await next(scene, project, berlin);
    const home = await next(scene, project);
    await scene.useCases.removeDeployment(scene.by, home.id);
    expect(await scene.running()).toEqual([]);
    servers.calls.length = 0;
    await scene.useCases.removeProject(scene.by, project.id);
    expect(await servers.running(berlin)).toEqual([]);
    expect(askedOf(world, berlin)).toContain(`${berlin}: runtime.list`);
    expect(there.plan.serverId).toBe(berlin);
    expect(askedOf(world, paris)).toEqual([]);
  });

  test("a deployment that ran on this machine alone asks no server when it is deleted", async () => {
    await using world = await withNeighbour();
    const { scene, servers, project } = world;
    const home = await next(scene, project);
    await scene.useCases.removeDeployment(scene.by, home.id);
    expect(await scene.running()).toEqual([]);
    expect(servers.calls).toEqual([]);
  });
});

describe("instancesAt()", () => {
  test("asks this machine's engine only if something ran in containers here", async () => {
    expect(await asked()).toEqual([]);
    const here = deployedTo(null, "dep_1-app-1");
    expect(await asked(here)).toEqual([{ server: null, containers: false }]);
    expect(await asked(here, deployedTo(null, "dep_2-app-1-c"))).toEqual([{ server: null, containers: true }]);
  });

  test("asks each server once, also one where a former service still runs in place of a failed one", async () => {
    const first = deployedTo("srv_1", "dep_1-app-1-srv_1-c");
    const mixed = deployedTo("srv_2", "dep_2-app-1-srv_2-c", "dep_1-app-1-srv_1-c");
    expect(await asked(first, first)).toEqual([{ server: "srv_1", containers: true }]);
    expect(await asked(mixed)).toEqual([
      { server: "srv_2", containers: true },
      { server: "srv_1", containers: true },
    ]);
  });
});

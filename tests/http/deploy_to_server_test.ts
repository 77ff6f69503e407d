import { describe, expect, test } from "bun:test";
import type { MemoryWorld } from "../../adapters/memory/memory_world.ts";
import { member } from "../support/apps/app.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { commit, REPOSITORY } from "../support/apps/engine_scene.ts";
import { AWAY, SimulatedServers } from "../support/apps/server_scene.ts";
import { aServer } from "../support/database/server_builders.ts";
import { adoptedOf } from "../support/inputs/adopted.ts";
import { anOrganization, freeNameOf, projectOf } from "../support/database/store_builders.ts";

/** An application with a server, whose engine can be away, and a project with a Dockerfile. */
async function scene() {
  let simulated: SimulatedServers | undefined;
  const app = await deployingApp({}, (memory: MemoryWorld) => {
    simulated = new SimulatedServers(memory);
    return simulated.ports();
  });
  app.world.sources.known.git[REPOSITORY] = { commits: [commit("a1", { Dockerfile: "FROM debian\nEXPOSE 9000\n" })] };
  const { organizationId } = await me(app);
  const { id: serverId } = await aServer(app.world, { organizationId, name: "Berlin" });
  const projectId = await app.project();
  return {
    app,
    servers: simulated!,
    organizationId,
    serverId,
    projectId,
    /** Requests a deployment of the project. */
    deploy: (body: object, token?: string) => app.post("/build/access", { projectId, ...body }, token),
    /** Deploys the project to the server; resolves to the id of the deployment once that has settled. */
    async deployedThere(): Promise<string> {
      const { body } = await app.post("/build/access", { projectId, deployTarget: "server", serverId });
      return (await app.settled(body.deployment_id)).id;
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await simulated![Symbol.asyncDispose]();
    },
  };
}

async function me({ call, owner }: DeployingApp): Promise<{ readonly organizationId: string }> {
  const { body } = await call("GET", "/api/auth/me", { token: owner });
  return { organizationId: body.data.organization.id };
}

/** Where a project is, and how many deployments it has. */
async function stored({ app, projectId }: Awaited<ReturnType<typeof scene>>) {
  const { location, serverId } = (await app.call("GET", `/api/projects/${projectId}`, { token: app.owner })).body.data;
  return { location, serverId, deployments: (await app.world.deployments.ofProject(projectId)).length };
}

const UNTOUCHED = { location: "local", serverId: null, deployments: 0 };

const onServer = (serverId: string) => ({ deployTarget: "server", serverId });

describe("POST /api/deployments/build/access with a server", () => {
  test("deploys there, and the project shows where it is", async () => {
    await using world = await scene();
    const { app, serverId } = world;
    const answer = await world.deploy({ ...onServer(serverId), buildStrategy: "server" });
    expect(answer.status).toBe(200);
    const id = answer.body.deployment_id;
    expect(await app.settled(id)).toMatchObject({ status: "ready", plan: { serverId } });
    expect(await stored(world)).toEqual({ location: "server", serverId, deployments: 1 });
    const { services } = (await app.get(`/${id}/info`)).body.data;
    expect(services).toMatchObject([{ name: "app", status: "running" }]);
    expect((await app.get(`/${id}/usage`)).status).toBe(200);
    expect((await app.post(`/${id}/restart`)).status).toBe(200);
  });

  test.each<[object, number, string]>([
    [{ deployTarget: "server" }, 400, "serverId"],
    [{ deployTarget: "local", serverId: "given" }, 400, "serverId"],
  ])("refuses %j with %d, names %s, and stores nothing", async (body, status, path) => {
    await using world = await scene();
    const given = "serverId" in body ? { ...body, serverId: world.serverId } : body;
    const answer = await world.deploy(given);
    expect([answer.status, answer.body.details[0].path]).toEqual([status, path]);
    expect(await stored(world)).toEqual(UNTOUCHED);
  });

  test("refuses the cloud without a link, and a server with it, and stores nothing", async () => {
    await using world = await scene();
    const unlinked = await world.deploy({ deployTarget: "cloud" });
    expect([unlinked.status, unlinked.body.code]).toEqual([400, "cloud_not_linked"]);
    const withServer = await world.deploy({ deployTarget: "cloud", serverId: world.serverId });
    expect([withServer.status, withServer.body.details[0].path]).toEqual([400, "serverId"]);
    expect(await stored(world)).toEqual(UNTOUCHED);
  });

  test("does not find a server of another organization, an unknown one and nonsense", async () => {
    await using world = await scene();
    const { app, projectId } = world;
    const foreign = await aServer(app.world, { organizationId: (await anOrganization(app.world)).id });
    for (const serverId of [foreign.id, "srv_01m7edka8326kz9mv55sbbg868", projectId, "../x"]) {
      const answer = await world.deploy({ deployTarget: "server", serverId });
      expect([serverId, answer.status, answer.body.error]).toEqual([serverId, 404, expect.stringContaining("server")]);
    }
    expect(await stored(world)).toEqual(UNTOUCHED);
  });

  test("refuses a request that is wrong in another way before it moves the project", async () => {
    await using world = await scene();
    const { serverId } = world;
    const wrong = {
      deployTarget: "server",
      serverId,
      services: [{ name: "web" }],
      publicEndpoints: [{ service: "x" }],
    };
    expect((await world.deploy(wrong)).status).toBe(400);
    expect(await stored(world)).toEqual(UNTOUCHED);
  });
});

describe("moving a project", () => {
  test("needs server:write on that very server and project:write, and stores nothing without them", async () => {
    await using world = await scene();
    const { app, organizationId, projectId, serverId } = world;
    const other = await aServer(app.world, { organizationId, name: "Paris" });
    const deploying = { resource: "deployment", id: "*", action: "write" };
    const project = { resource: "project", id: projectId, action: "write" };
    const server = { resource: "server", id: serverId, action: "write" };
    const refused = [
      [[deploying], "server:write"],
      [[deploying, project], "server:write"],
      [[deploying, project, { ...server, action: "read" }], "server:write"],
      [[deploying, project, { ...server, id: other.id }], "server:write"],
      [[deploying, server], "project:write"],
      [[deploying, server, { ...project, action: "read" }], "project:write"],
    ] as const;
    for (const [grants, missing] of refused) {
      const { token } = await member(app, "restricted", { grants: [...grants] });
      const answer = await world.deploy(onServer(serverId), token);
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining(missing)]);
    }
    const developer = await member(app, "developer");
    expect((await world.deploy(onServer(serverId), developer.token)).status).toBe(403);
    expect(await stored(world)).toEqual(UNTOUCHED);
    const { token } = await member(app, "restricted", { grants: [deploying, project, server] });
    expect((await world.deploy(onServer(serverId), token)).status).toBe(200);
    expect(await stored(world)).toEqual({ location: "server", serverId, deployments: 1 });
  });

  test("is not needed to deploy where a project is, with or without naming that, but to take it back", async () => {
    await using world = await scene();
    const { app, serverId } = world;
    await world.deployedThere();
    const { token } = await member(app, "restricted", {
      grants: [{ resource: "deployment", id: "*", action: "write" }],
    });
    for (const body of [{}, { deployTarget: "server" }, onServer(serverId)]) {
      const answer = await world.deploy(body, token);
      expect([body, answer.status]).toEqual([body, 200]);
      const ready = await app.settled(answer.body.deployment_id);
      expect(ready).toMatchObject({ status: "ready", plan: { serverId } });
    }
    const refused = await world.deploy({ deployTarget: "local" }, token);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining("project:write")]);
    expect(await stored(world)).toMatchObject({ location: "server", serverId });
    const developer = await member(app, "developer");
    expect((await world.deploy({ deployTarget: "local" }, developer.token)).status).toBe(200);
    expect(await stored(world)).toMatchObject({ location: "local", serverId: null });
  });
});

test("a project that was adopted from a server has no previews, and its services come from its settings", async () => {
  await using world = await scene();
  const { app, organizationId, serverId } = world;
  const settings = { services: [{ name: "web", image: "web:1" }] };
  const adopted = projectOf({ organizationId, location: "server", serverId, settings });
  const services = [adoptedOf("web", { serverId })];
  await app.world.adoptions.create(adopted, freeNameOf(adopted), { services, variables: [] });
  for (const body of [{ environment: "preview" }, { services: [{ name: "web", image: "other:1" }] }]) {
    const answer = await app.post("/build/access", { projectId: adopted.id, ...body });
    expect([answer.status, answer.body.code]).toEqual([400, "project_adopted"]);
  }
  expect(await app.world.deployments.ofProject(adopted.id)).toEqual([]);
  expect(await app.world.projects.find(organizationId, adopted.id)).toEqual(adopted);
});

describe("while a server cannot be reached", () => {
  test("a deployment fails with the reason, and the live one stays as it is", async () => {
    await using world = await scene();
    const { app, projectId, servers, serverId } = world;
    const live = await world.deployedThere();
    const before = (await app.get(`/${live}`)).body.data;
    servers.away.add(serverId);
    const failed = await app.settled(await app.deploy(projectId));
    expect(failed).toMatchObject({ status: "failed", error: { code: "engine_away", message: AWAY } });
    const { data } = (await app.get(`/${live}`)).body;
    expect(data).toMatchObject({ status: "ready", active: true, error: null, services: before.services });
    for (const path of ["info", "usage"]) {
      const answer = await app.get(`/${live}/${path}`);
      expect([path, answer.status, answer.body.code, answer.body.error]).toEqual([path, 503, "engine_away", AWAY]);
    }
    const restart = await app.post(`/${live}/restart`);
    expect([restart.status, restart.body.code]).toEqual([503, "engine_away"]);
    servers.away.delete(serverId);
    expect((await app.get(`/${live}/info`)).body.data.services).toMatchObject([{ name: "app", status: "running" }]);
    expect(await servers.running(serverId)).toHaveLength(1);
    expect(await app.settled(await app.deploy(projectId))).toMatchObject({ status: "ready" });
  });

  test("a project of this machine is deployed, shown, restarted, rolled back and deleted", async () => {
    await using world = await scene();
    const { app, servers, serverId } = world;
    await world.deployedThere();
    servers.away.add(serverId);
    const other = await app.project({ gitUrl: REPOSITORY, runtime: "docker" });
    const first = await app.deployed(other);
    const second = await app.deployed(other);
    for (const path of ["info", "usage"]) expect((await app.get(`/${second}/${path}`)).status).toBe(200);
    expect((await app.post(`/${second}/restart`)).status).toBe(200);
    const { body } = await app.post(`/${first}/rollback`);
    expect(await app.settled(body.deployment_id)).toMatchObject({ status: "ready", error: null });
    expect((await app.call("DELETE", `/api/projects/${other}`, { token: app.owner })).status).toBe(200);
    expect(await app.world.runtime.list()).toEqual([]);
  });

  test("deleting its project with its volumes is refused with the reason", async () => {
    await using world = await scene();
    const { app, projectId, servers, serverId } = world;
    await world.deployedThere();
    servers.away.add(serverId);
    const gone = (query: string) => app.call("DELETE", `/api/projects/${projectId}${query}`, { token: app.owner });
    const refused = await gone("?volumes=true");
    expect([refused.status, refused.body.code]).toEqual([503, "engine_away"]);
    expect((await app.get(`?projectId=${projectId}`)).body.total).toBe(1);
    expect((await gone("")).status).toBe(200);
  });
});

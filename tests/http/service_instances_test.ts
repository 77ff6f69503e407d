import { describe, expect, test } from "bun:test";
import type { InstanceUsage } from "../../ports/services/runtime.ts";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { SITE } from "../support/apps/engine_scene.ts";

const WEB = { name: "web", startCommand: "serve", ports: [3000] };
const WORKER = { name: "worker", startCommand: "work" };
const MIGRATE = { name: "migrate", startCommand: "migrate", oneShot: true };

async function scene() {
  const app = await deployingApp();
  app.world.runtime.scripts.set("service:migrate", { does: "ends", code: 0 });
  return { app, projectId: await app.project() };
}

async function healths(app: DeployingApp, id: string): Promise<Record<string, string>> {
  const { services } = (await app.get(`/${id}/info`)).body.data;
  return Object.fromEntries(services.map(({ name, health }: Record<string, string>) => [name, health]));
}

describe("GET /api/deployments/:id/info of several services", () => {
  test("reports one-off services as done, even when they were left unchanged", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const first = await app.deployedServices(projectId, [WEB, MIGRATE]);
    expect(await healths(app, first)).toEqual({ web: "healthy", migrate: "done" });
    const second = await app.deployedServices(projectId, [{ ...WEB, environment: { MODE: "fast" } }, MIGRATE]);
    const { services } = (await app.get(`/${second}`)).body.data;
    expect(services).toMatchObject([
      { name: "web", status: "healthy" },
      { name: "migrate", status: "unchanged" },
    ]);
    expect(await healths(app, second)).toEqual({ web: "healthy", migrate: "done" });
  });

  test("reports the running version when the next one failed", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    await app.deployedServices(projectId, [WEB, WORKER]);
    app.world.runtime.scripts.set("work badly", { does: "ends", code: 3 });
    const next = [
      { ...WEB, environment: { MODE: "fast" } },
      { ...WORKER, startCommand: "work badly" },
    ];
    const held = await app.deployedServices(projectId, next);
    expect((await app.get(`/${held}`)).body.data).toMatchObject({ status: "partial_failure", decision: "pending" });
    expect(await healths(app, held)).toEqual({ web: "healthy", worker: "healthy" });
  });
});

describe("GET /api/deployments/:id/usage of several services", () => {
  const USED: InstanceUsage = {
    cpuPercent: 0.1,
    memoryBytes: 100,
    memoryLimitBytes: 1_000,
    networkRxBytes: 0,
    networkTxBytes: null,
  };

  test("adds up known values, and has no limit if one of them has none", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const id = await app.deployedServices(projectId, [WEB, WORKER]);
    app.world.runtime.usage = async (instanceId) =>
      instanceId.includes("web") ? USED : { ...USED, cpuPercent: 0.2, memoryLimitBytes: null };
    expect((await app.get(`/${id}/usage`)).body.data).toMatchObject({
      cpuPercent: 0.3,
      memoryBytes: 200,
      memoryLimitBytes: null,
      networkRxBytes: 0,
      networkTxBytes: null,
    });
    app.world.runtime.usage = async () => USED;
    expect((await app.get(`/${id}/usage`)).body.data.memoryLimitBytes).toBe(2_000);
  });
});

describe("POST /api/deployments/:id/restart after variables were changed", () => {
  const NOTE =
    "Restarted 1 service with the variables of its deployment. Those changed since are used by the next deployment only: redeploy to use them";

  test.each([
    ["set", { upserts: [{ key: "MORE", value: "1" }] }],
    ["changed", { upserts: [{ key: "COLOR", value: "red" }] }],
    ["deleted", { deletes: ["COLOR"] }],
  ])("says that a variable that was %s takes effect with the next deployment only", async (_, change) => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const write = (body: object) =>
      app.call("PATCH", `/api/projects/${projectId}/env`, { token: app.owner, body: { upserts: [], ...body } });
    await write({ upserts: [{ key: "COLOR", value: "blue" }] });
    const id = await app.deployed(projectId);
    await write({ upserts: [{ key: "COLOR", value: "blue", secret: true }] });
    expect((await app.post(`/${id}/restart`)).body.message).toBe("Restarted 1 service");
    await write(change);
    expect((await app.post(`/${id}/restart`)).body.message).toBe(NOTE);
    const next = await app.deployed(projectId);
    expect((await app.post(`/${next}/restart`)).body.message).toBe("Restarted 1 service");
  });

  test("compares a preview with the variables of previews", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const write = (query: string, value: string) =>
      app.call("PATCH", `/api/projects/${projectId}/env${query}`, {
        token: app.owner,
        body: { upserts: [{ key: "COLOR", value }] },
      });
    await write("", "blue");
    await write("?environment=preview", "green");
    const id = await app.deployed(projectId, { environment: "preview" });
    const { environment } = app.world.runtime.started.at(-1)!;
    expect(environment.get("COLOR")?.reveal()).toBe("green");
    await write("", "red");
    expect((await app.post(`/${id}/restart`)).body.message).toBe("Restarted 1 service");
    await write("?environment=preview", "yellow");
    expect((await app.post(`/${id}/restart`)).body.message).toBe(NOTE);
  });
});

describe("POST /api/deployments/:id/restart of several services", () => {
  test("restarts nothing that a later deployment has taken over", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const first = await app.deployedServices(projectId, [WEB, WORKER]);
    const second = await app.deployedServices(projectId, [{ ...WEB, environment: { MODE: "fast" } }, WORKER]);
    expect((await app.get(`/${second}`)).body.data.services[1]).toMatchObject({ name: "worker", status: "unchanged" });
    const refused = await app.post(`/${first}/restart`);
    expect([refused.status, refused.body.code]).toEqual([400, "nothing_runs"]);
    const restarts = async () =>
      (await app.get(`/${second}/info`)).body.data.services.map(({ restarts: n }: { restarts: number }) => n);
    expect(await restarts()).toEqual([0, 0]);
    expect((await app.post(`/${second}/restart`)).body.message).toBe("Restarted 2 services");
    expect(await restarts()).toEqual([1, 1]);
  });

  test("has nothing to restart when all that ran were one-off services", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    const id = await app.deployedServices(projectId, [MIGRATE]);
    expect((await app.get(`/${id}`)).body.data.status).toBe("ready");
    expect((await app.post(`/${id}/restart`)).body.code).toBe("nothing_runs");
  });
});

describe("GET /api/deployments/:id/logs?kind=runtime of several services", () => {
  test("returns the lines of all, ordered by time, and continues after nextSince", async () => {
    const { app, projectId } = await scene();
    await using _ = app;
    app.world.runtime.scripts.set("service:web", { does: "answers", prints: ["web is up", "come in"] });
    app.world.runtime.scripts.set("service:worker", { does: "answers", prints: ["at work"] });
    const id = await app.deployedServices(projectId, [WEB, WORKER]);
    const seen: [string, string][] = [];
    for (let since = 0; ;) {
      const { data, nextSince } = (await app.get(`/${id}/logs?kind=runtime&limit=1&since=${since}`)).body;
      if (data.length === 0) break;
      seen.push([data[0].service, data[0].message]);
      since = nextSince;
    }
    expect(seen.filter(([service]) => service === "web").map(([, message]) => message)).toEqual([
      "web is up",
      "come in",
    ]);
    expect(seen.filter(([service]) => service === "worker").map(([, message]) => message)).toEqual(["at work"]);
    const text = await app.ask(`/${id}/logs?kind=runtime`, { headers: { accept: "text/plain" } });
    expect(await text.text()).toBe(seen.map(([service, message]) => `${service} | ${message}\n`).join(""));
  });
});

test("POST /api/deployments/:id/restart is refused for a static site, which has nothing to restart", async () => {
  await using app = await deployingApp();
  const uploadSessionId = await app.upload(SITE);
  const { body } = await app.post("/build/access", { projectId: await app.project({}), uploadSessionId });
  expect(await app.settled(body.deployment_id)).toMatchObject({ status: "ready" });
  const refused = await app.post(`/${body.deployment_id}/restart`);
  expect([refused.status, refused.body.code, refused.body.error]).toEqual([
    400,
    "nothing_runs",
    "Cannot restart: a static site has nothing to restart. Redeploy it to rebuild it",
  ]);
});

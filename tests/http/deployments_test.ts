import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD, REPOSITORY, START } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";

const FIELDS =
  "active artifactAvailable branch buildMs builtAt commitMessage commitSha createdAt decision durationMs environment error finishedAt framework id organizationId pinned projectId pullRequest queuedAt redeployOf rollbackOf services startedAt status trigger url urls version waitingFor waitingReason".split(
    " ",
  );

describe("POST /api/deployments", () => {
  test("queues a deployment of the linked source and shows it", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const answer = await app.post("", { projectId, branch: "main" });
    expect(answer.status).toBe(202);
    expect(Object.keys(answer.body)).toEqual(["success", "data"]);
    const { deployment_id, deployment } = answer.body.data;
    expect(Object.keys(deployment).toSorted()).toEqual(FIELDS);
    expect(deployment).toMatchObject({
      id: deployment_id,
      projectId,
      status: "queued",
      trigger: "manual",
      branch: "main",
      active: false,
      version: 1,
      environment: "production",
      pullRequest: null,
    });
    await app.settled(deployment_id);
    const { data } = (await app.get(`/${deployment_id}`)).body;
    expect(data).toMatchObject({
      status: "ready",
      active: true,
      error: null,
      waitingFor: null,
      commitSha: "a1".padEnd(40, "0"),
      url: expect.stringContaining(".localhost:4480"),
    });
    expect([data.durationMs, data.buildMs, data.urls]).toEqual([0, 0, [data.url]]);
    expect(data.services).toEqual([{ name: "app", status: "healthy", url: data.url, error: null }]);
  });

  test.each([
    ["an unknown project", { projectId: "prj_01m7edka8326kz9mv55sbbg868" }, 404, "project_not_found"],
    ["no project", {}, 400, "invalid_request"],
    ["an unknown field", { projectId: "x", banana: 1 }, 400, "invalid_request"],
  ] as const)("refuses %s", async (_, body, status, code) => {
    await using app = await deployingApp();
    const answer = await app.post("", body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("refuses a branch that could be an option, and a project without a source", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    expect((await app.post("", { projectId, branch: "--upload-pack=x" })).status).toBe(400);
    const bare = await app.project({});
    expect((await app.post("", { projectId: bare })).body.code).toBe("no_source");
  });

  test("creates one deployment for repeated requests with the same key", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const headers = { "idempotency-key": "once" };
    const send = () => app.call("POST", "/api/deployments", { token: app.owner, headers, body: { projectId } });
    const [first, second] = [await send(), await send()];
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await app.get("")).body.total).toBe(1);
  });

  test("start: false holds it until POST /:id/build", async () => {
    await using app = await deployingApp();
    const id = await app.deploy(await app.project(), { start: false });
    expect((await app.get(`/${id}`)).body.data.status).toBe("queued");
    const started = await app.post(`/${id}/build`);
    expect([started.status, started.body]).toEqual([202, { success: true, status: "queued" }]);
    await app.settled(id);
    const again = await app.post(`/${id}/build`);
    expect([again.status, again.body.code]).toEqual([400, "deployment_not_movable"]);
  });
});

describe("GET /api/deployments", () => {
  test("lists newest first, page by page, of all projects or one", async () => {
    await using app = await deployingApp();
    const [one, other] = [await app.project(), await app.project()];
    const made: string[] = [];
    for (const projectId of [one, other, one]) made.push(await app.deployed(projectId));
    const { body } = await app.get("");
    expect([body.success, body.total, body.page, body.perPage]).toEqual([true, 3, 1, 50]);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(made.toReversed());
    expect(body.data.map(({ active }: { active: boolean }) => active)).toEqual([true, true, false]);
    const ofOne = (await app.get(`?projectId=${one}&perPage=1&page=2`)).body;
    expect([ofOne.total, ofOne.data.length, ofOne.data[0].id]).toEqual([2, 1, made[0]!]);
    expect((await app.get("?projectId=prj_01m7edka8326kz9mv55sbbg868")).body.total).toBe(0);
    for (const query of ["?page=0", "?perPage=101", "?perPage=x"]) {
      expect((await app.get(query)).status).toBe(400);
    }
  });

  test("names the deployment that a queued one waits for", async () => {
    await using app = await deployingApp();
    app.world.builder.scripts.set(BUILD, { hangs: true });
    const projectId = await app.project();
    const [first, second] = [await app.deploy(projectId), await app.deploy(projectId)];
    const waiting = async () => (await app.get(`/${second}`)).body.data.waitingFor;
    expect(await eventually(waiting, Boolean)).toBe(first);
    app.world.builder.scripts.clear();
    await app.post(`/${first}/cancel`);
    await app.settled(second);
    expect(await waiting()).toBeNull();
  });
});

describe("GET /api/deployments/:id/build", () => {
  test("returns status, step, percent, steps, last number and services", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const { data } = (await app.get(`/${id}/build`)).body;
    expect(data).toMatchObject({ status: "ready", step: "clean", percent: 100, prompt: null });
    expect(data.steps[0]).toEqual({ name: "fetch", status: "done", startedAt: expect.any(String), durationMs: 0 });
    expect(data.lastSeq).toBe(await app.world.deploymentEvents.last(id));
    expect(data.services).toHaveLength(1);
  });

  test("returns the step at which a failed one stopped", async () => {
    await using app = await deployingApp();
    app.world.builder.scripts.set(BUILD, { exitCode: 2 });
    const id = await app.deployed(await app.project());
    expect((await app.get(`/${id}/build`)).body.data).toMatchObject({ status: "failed", step: "build", percent: 25 });
    expect((await app.get(`/${id}`)).body.data.error).toMatchObject({ code: "build_failed", step: "build" });
  });
});

describe("redeploy, rollback, pin, restart, info, usage, delete", () => {
  test("redeploy and rollback answer 202 with the new deployment", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const first = await app.deployed(projectId);
    for (const [path, body, trigger] of [
      ["redeploy", {}, "redeploy"],
      ["redeploy", { useExistingCommit: true }, "redeploy"],
      ["rollback", {}, "rollback"],
    ] as const) {
      const answer = await app.post(`/${first}/${path}`, body);
      expect([answer.status, answer.body.success, answer.body.project_id]).toEqual([202, true, projectId]);
      expect(await app.settled(answer.body.deployment_id)).toMatchObject({ status: "ready", trigger });
      expect((await app.get(`/${answer.body.deployment_id}`)).body.data).toMatchObject({
        active: true,
        [trigger === "rollback" ? "rollbackOf" : "redeployOf"]: first,
      });
    }
    expect((await app.get(`/${first}`)).body.data).toMatchObject({ status: "ready", active: false });
  });

  test("pin pins by default and unpins on request", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    expect((await app.post(`/${id}/pin`)).body.data).toMatchObject({ id, pinned: true, active: true });
    expect((await app.post(`/${id}/pin`, { pinned: false })).body.data.pinned).toBe(false);
    expect((await app.post(`/${id}/pin`, { pinned: "no" })).status).toBe(400);
  });

  test("restart, info and usage report on what runs", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const info = (await app.get(`/${id}/info`)).body.data;
    const [service] = info.services;
    expect(info.runtime).toBe("process");
    expect(service).toMatchObject({ name: "app", status: "running", health: "healthy", restarts: 0, image: null });
    expect(service.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(service.ports).toEqual([expect.any(Number)]);
    expect((await app.get(`/${id}/usage`)).body.data).toMatchObject({
      memoryBytes: 1_048_576,
      services: [{ name: "app" }],
    });
    expect((await app.post(`/${id}/restart`)).body).toEqual({ success: true, message: "Restarted 1 service" });
    expect((await app.get(`/${id}/info`)).body.data.services[0]).toMatchObject({
      restarts: 1,
      address: service.address,
    });
  });

  test("restart answers once it is up again, or with the reason", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    app.world.runtime.scripts.set(START, { does: "ends", code: 7 });
    const refused = await app.post(`/${id}/restart`);
    expect([refused.status, refused.body.code]).toEqual([400, "restart_failed"]);
    expect(refused.body.error).toBe(
      "Cannot restart this: it ended with code 7. It is restarted automatically; its runtime log says more",
    );
    app.world.runtime.scripts.delete(START);
    expect((await app.post(`/${id}/restart`)).body).toEqual({ success: true, message: "Restarted 1 service" });
  });

  test("info reports that a healthy service has ended since", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const [instance] = await app.world.runtime.list();
    app.world.runtime.find = async () => ({ ...instance!, status: "exited", exit: { code: 1, reason: "stopped" } });
    const [service] = (await app.get(`/${id}/info`)).body.data.services;
    expect(service).toMatchObject({ status: "exited", health: "unhealthy" });
  });

  test("info reports the container ports, and no address of what cannot be reached", async () => {
    await using app = await deployingApp();
    const id = await app.deployed(await app.project());
    const [instance] = await app.world.runtime.list();
    const ports = [80, 443].map((inside) => ({ inside, port: 40_000 + inside }));
    for (const [reached, shown] of [
      [
        { port: 40_080, ports },
        { ports: [80, 443], address: "127.0.0.1:40080" },
      ],
      [
        { port: null, ports: [] },
        { ports: [], address: null },
      ],
    ] as const) {
      app.world.runtime.find = async () => ({ ...instance!, host: "127.0.0.1", ...reached });
      expect((await app.get(`/${id}/info`)).body.data.services).toMatchObject([shown]);
    }
  });

  test("info and usage are empty and restart is refused when nothing runs", async () => {
    await using app = await deployingApp();
    app.world.builder.scripts.set(BUILD, { exitCode: 2 });
    const id = await app.deployed(await app.project());
    expect((await app.get(`/${id}/info`)).body.data.services).toEqual([]);
    expect((await app.get(`/${id}/usage`)).body.data).toMatchObject({ cpuPercent: 0, memoryBytes: 0, services: [] });
    const refused = await app.post(`/${id}/restart`);
    expect([refused.status, refused.body.code]).toEqual([400, "nothing_runs"]);
    expect((await app.post(`/${id}/rollback`)).body.code).toBe("not_a_release");
  });

  test("cancel confirms, and refuses a deployment that has ended", async () => {
    await using app = await deployingApp();
    const id = await app.deploy(await app.project(), { start: false });
    expect((await app.post(`/${id}/cancel`)).body).toEqual({ success: true, message: "The deployment is cancelled" });
    const again = await app.post(`/${id}/cancel`);
    expect([again.status, again.body.code]).toEqual([400, "deployment_not_movable"]);
  });

  test("delete is refused while it runs; a deleted one looks like one that never existed", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const remove = (id: string) => app.call("DELETE", `/api/deployments/${id}`, { token: app.owner });
    const held = await app.deploy(projectId, { start: false });
    expect([(await remove(held)).status, (await remove(held)).body.code]).toEqual([400, "deployment_running"]);
    const id = await app.deployed(projectId);
    expect((await remove(id)).body).toEqual({ success: true, message: "The deployment is deleted" });
    const gone = await app.get(`/${id}`);
    const never = await app.get("/dep_01m7edka8326kz9mv55sbbg868");
    expect([gone.status, gone.text]).toEqual([404, never.text]);
    for (const path of ["/logs", "/stream", "/build", "/info"])
      expect((await app.get(`/${id}${path}`)).status).toBe(404);
    expect((await app.get("")).body.data.map((shown: { id: string }) => shown.id)).toEqual([held]);
  });
});

describe("permissions", () => {
  test("a grant on a project covers its deployments and no others", async () => {
    await using app = await deployingApp();
    const [mine, other] = [await app.project(), await app.project()];
    const [own, foreign] = [await app.deployed(mine), await app.deployed(other)];
    const grants = [{ resource: "project", id: mine, action: "write" }];
    const { token } = await member(app, "restricted", { grants });
    expect((await app.get("", token)).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
    expect((await app.get(`?projectId=${other}`, token)).body.total).toBe(0);
    expect((await app.get(`/${own}`, token)).status).toBe(200);
    expect((await app.get(`/${foreign}`, token)).status).toBe(403);
    expect((await app.post("", { projectId: mine, start: false }, token)).status).toBe(202);
    expect((await app.post("", { projectId: other }, token)).status).toBe(403);
    expect((await app.post(`/${own}/rollback`, {}, token)).status).toBe(403);
  });

  test("a narrowed token sees the deployments of the project it is narrowed to", async () => {
    await using app = await deployingApp();
    const [mine, other] = [await app.project(), await app.project()];
    const [own] = [await app.deployed(mine), await app.deployed(other)];
    const body = { name: "one", grants: [{ resource: "project", id: mine, action: "read" }] };
    const { token } = (await app.call("POST", "/api/tokens", { token: app.owner, body })).body.data;
    expect((await app.get("", token)).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  });

  test("rollback and cancel need deployment:admin after deployment:write", async () => {
    await using app = await deployingApp();
    const projectId = await app.project();
    const id = await app.deployed(projectId);
    const held = await app.deploy(projectId, { start: false });
    const developer = await member(app, "developer");
    for (const path of [`/${id}/rollback`, `/${held}/cancel`]) {
      const refused = await app.post(path, {}, developer.token);
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"deployment:admin"')]);
    }
    const grants = [{ resource: "project", id: projectId, action: "admin" }];
    const admin = await member(app, "restricted", { grants });
    expect((await app.post(`/${held}/cancel`, {}, admin.token)).status).toBe(200);
    expect((await app.post(`/${id}/rollback`, {}, admin.token)).status).toBe(202);
  });
});

test("a repository of the git host is deployed from its address", async () => {
  await using app = await deployingApp();
  app.world.sources.known.git["https://git.example.com/acme/quay.git"] = app.world.sources.known.git[REPOSITORY]!;
  const id = await app.deployed(await app.project({ gitOwner: "acme", gitRepo: "quay", gitBranch: "main" }));
  expect((await app.get(`/${id}`)).body.data).toMatchObject({ status: "ready", branch: "main" });
});

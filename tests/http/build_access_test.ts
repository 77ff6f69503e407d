import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { deployingApp } from "../support/apps/deploying_app.ts";
import { REPOSITORY } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";

describe("POST /api/deployments/build/access", () => {
  test("deploys an uploaded folder, once", async () => {
    await using app = await deployingApp();
    const projectId = await app.project({});
    const uploadSessionId = await app.upload();
    const answer = await app.post("/build/access", { projectId, uploadSessionId, buildStrategy: "server" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, deployment_id: expect.any(String), project_id: projectId });
    expect(await app.settled(answer.body.deployment_id)).toMatchObject({ status: "ready", trigger: "upload" });
    const again = await app.post("/build/access", { projectId, uploadSessionId });
    expect([again.status, again.body.code]).toEqual([400, "upload_not_ready"]);
  });

  test("accepts one of two concurrent requests with the same upload", async () => {
    await using app = await deployingApp();
    const projectId = await app.project({});
    const uploadSessionId = await app.upload();
    const answers = await Promise.all([1, 2, 3].map(() => app.post("/build/access", { projectId, uploadSessionId })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  });

  test("does not find an upload of another user, and refuses an incomplete or expired one", async () => {
    await using app = await deployingApp();
    const projectId = await app.project({});
    const { token } = await member(app, "developer");
    const foreign = await app.upload(undefined, token);
    expect((await app.post("/build/access", { projectId, uploadSessionId: foreign })).status).toBe(404);
    const { sessionId } = (await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} })).body;
    const early = await app.post("/build/access", { projectId, uploadSessionId: sessionId });
    expect([early.status, early.body.code]).toEqual([400, "upload_not_ready"]);
    const uploadSessionId = await app.upload();
    app.world.clock.advance(3_600_001);
    const late = await app.post("/build/access", { projectId, uploadSessionId });
    expect([late.status, late.body.code]).toEqual([400, "upload_expired"]);
  });

  test("lets only an admin of deployments skip the approval gate of a project", async () => {
    await using app = await deployingApp();
    const projectId = await app.project({ gitUrl: REPOSITORY, requireApproval: true });
    const { token } = await member(app, "developer");
    const request = { projectId, requireApproval: false };
    const refused = await app.post("/build/access", request, token);
    expect([refused.status, refused.body.success]).toEqual([403, false]);
    expect(refused.body.error).toContain("deployment:admin");
    const made = await app.post("/build/access", request);
    expect(await app.settled(made.body.deployment_id)).toMatchObject({ status: "ready" });
  });

  test.each(["/build/access", ""])(
    "accepts a preview and an approval gate, as does POST /api/deployments%s",
    async (path) => {
      await using app = await deployingApp();
      const projectId = await app.project();
      const request = { projectId, environment: "preview", requireApproval: true, start: true };
      const { body } = await app.post(path, request);
      const id = body.deployment_id ?? body.data.deployment_id;
      const { promptId, actions } = await eventually(
        async (): Promise<{ promptId: string; actions: { id: string }[] }> =>
          (await app.get(`/${id}/build`)).body.data.prompt,
        Boolean,
      );
      expect(actions.map((action) => action.id)).toEqual(["approve", "reject"]);
      const wrong = await app.post(`/${id}/build/respond`, { promptId, action: "maybe" });
      expect([wrong.status, wrong.body.details[0].path]).toEqual([400, "action"]);
      const right = await app.post(`/${id}/build/respond`, { promptId, action: "approve" });
      expect([right.status, right.body]).toEqual([200, { success: true, status: "building" }]);
      expect(await app.settled(id)).toMatchObject({ status: "ready", environment: "preview" });
      expect((await app.get(`/${id}`)).body.data.active).toBe(false);
      expect((await app.post(`/${id}/build/respond`, { promptId, action: "approve" })).body.code).toBe(
        "no_open_prompt",
      );
    },
  );

  test.each(["server", "local"])(
    "builds on this machine, where it also runs, with buildStrategy %s",
    async (buildStrategy) => {
      await using app = await deployingApp();
      const { body } = await app.post("/build/access", { projectId: await app.project(), buildStrategy });
      expect(await app.settled(body.deployment_id)).toMatchObject({ status: "ready" });
    },
  );

  test("refuses a branch for a source without branches, and uses nothing up", async () => {
    await using app = await deployingApp();
    const [projectId, uploadSessionId] = [await app.project({}), await app.upload()];
    const refused = await app.post("/build/access", { projectId, uploadSessionId, branch: "main" });
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'Cannot accept "branch": a folder has no branches. Leave it out, or deploy from a repository',
    ]);
    expect(refused.body.details[0].path).toBe("branch");
    const services = [{ name: "web", image: "nginx:1" }];
    const images = await app.post("/build/access", { projectId, services, branch: "main" });
    expect([images.status, images.body.details[0]]).toEqual([
      400,
      { path: "branch", message: "an image has no branches. Leave it out, or deploy from a repository" },
    ]);
    expect((await app.post("/build/access", { projectId, uploadSessionId })).status).toBe(200);
  });

  test.each([
    [{ deployTarget: "cloud" }, 400, "cloud_not_linked"],
    [{ deployTarget: "server" }, 400, "invalid_request"],
    [{ deployTarget: "server", serverId: "srv_01m7edka8326kz9mv55sbbg868" }, 404, "server_not_found"],
    [{ serverId: "srv_01m7edka8326kz9mv55sbbg868" }, 404, "server_not_found"],
  ])("refuses %j with %d, and uses nothing up", async (request, status, code) => {
    await using app = await deployingApp();
    const [projectId, uploadSessionId] = [await app.project({}), await app.upload()];
    const refused = await app.post("/build/access", { projectId, uploadSessionId, ...request });
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    const accepted = await app.post("/build/access", { projectId, uploadSessionId, services: [] });
    expect(accepted.status).toBe(200);
  });

  test.each(["/build/access", ""])(
    "lets only admins skip a project's approval gate, as does POST /api/deployments%s",
    async (path) => {
      await using app = await deployingApp();
      const gated = await app.project({ gitUrl: REPOSITORY, requireApproval: true });
      const { token } = await member(app, "developer");
      const request = { projectId: gated, requireApproval: false, start: false };
      const refused = await app.post(path, request, token);
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"deployment:admin"')]);
      expect([200, 202]).toContain((await app.post(path, request)).status);
      const open = { ...request, projectId: await app.project() };
      expect([200, 202]).toContain((await app.post(path, open, token)).status);
      expect([200, 202]).toContain((await app.post(path, { ...request, requireApproval: true }, token)).status);
    },
  );

  test("lets only admins remove a project's approval gate", async () => {
    await using app = await deployingApp();
    const id = await app.project({ gitUrl: REPOSITORY, requireApproval: true });
    const { token } = await member(app, "developer");
    const patch = (body: object, as: string) => app.call("PATCH", `/api/projects/${id}`, { token: as, body });
    for (const requireApproval of [false, null]) {
      const refused = await patch({ requireApproval }, token);
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"deployment:admin"')]);
    }
    expect((await patch({ port: 80, requireApproval: true }, token)).status).toBe(200);
    expect((await patch({ requireApproval: null }, app.owner)).body.data.requireApproval).toBeNull();
    expect((await patch({ requireApproval: false }, token)).status).toBe(200);
  });

  test("refuses an upload for the cloud without a link to one, unless the build is requested here", async () => {
    await using app = await deployingApp();
    const projectId = await app.project({});
    const uploadSessionId = await app.upload({ "index.html": "hi" }, app.owner, { mode: "cloud" });
    const refused = await app.post("/build/access", { projectId, uploadSessionId });
    expect([refused.status, refused.body.code]).toEqual([400, "cloud_not_linked"]);
    const here = await app.post("/build/access", { projectId, uploadSessionId, deployTarget: "local" });
    expect(here.status).toBe(200);
  });

  test.each([
    [{ serverId: "" }, "serverId"],
    [{ buildStrategy: "moon" }, "buildStrategy"],
    [{ buildStrategy: null }, "buildStrategy"],
    [{ services: "web" }, "services"],
    [{ services: [{ image: "postgres:18" }] }, "services.0.name"],
    [{ services: [{ name: "web", ports: [70_000] }] }, "services.0.ports.0"],
    [{ services: [{ name: "web", banana: 1 }] }, "services.0.banana"],
    [{ services: [{ name: "web" }, { name: "api", ports: [80, "x:y"] }] }, "services.1.ports.1"],
    [{ services: [{ name: "web", dependsOn: ["db"] }] }, "services.0.dependsOn.0"],
    [{ services: Array.from({ length: 101 }, (_, at) => ({ name: `s${at}` })) }, "services"],
    [{ services: [{ name: "web" }], publicEndpoints: [{ service: "api" }] }, "publicEndpoints.0.service"],
    [{ publicEndpoints: [{ domain: "not a label" }] }, "publicEndpoints.0.domain"],
    [{ publicEndpoints: [{ domainType: "custom" }] }, "publicEndpoints.0.customDomain"],
    [{ publicEndpoints: [{ targetPath: "/a?b" }] }, "publicEndpoints.0.targetPath"],
    [{ publicEndpoints: [{}, { targetPath: "/" }] }, "publicEndpoints.1"],
  ])("refuses %j and names %s", async (request, field) => {
    await using app = await deployingApp();
    const answer = await app.post("/build/access", { projectId: await app.project(), ...request });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, field]);
  });
});

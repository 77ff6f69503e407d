import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { REPOSITORY } from "../support/apps/engine_scene.ts";
import { CLOUD_URL, linkedApps, type LinkedApps } from "../support/apps/linked_apps.ts";

const SITE = { "index.html": "<h1>Hi</h1>", "deep/page.html": "x".repeat(5_000) };

async function project({ home }: LinkedApps, id: string) {
  return (await home.call("GET", `/api/projects/${id}`, { token: home.owner })).body.data;
}

async function inCloud({ cloud }: LinkedApps, path: string) {
  return (await cloud.call("GET", `/api/projects/${path}`, { token: cloud.owner })).body.data;
}

/** Fails every request to the cloud whose path matches. */
function failAt({ home, cloud }: LinkedApps, path: RegExp, answer: () => Response): void {
  home.world.cloudApi.clouds.set(CLOUD_URL, (request) =>
    path.test(new URL(request.url).pathname) ? answer() : cloud.handle(request, "192.0.2.1"),
  );
}

describe("promoting to the cloud", () => {
  test("hands a repository, the settings and the variables over under the same id, and marks the project", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const settings = { gitUrl: REPOSITORY, buildCommand: "npm run build", port: 3000, healthPath: "/up" };
    const id = await home.project(settings);
    const env = (query: string, body: object) =>
      home.call("PATCH", `/api/projects/${id}/env${query}`, { token: home.owner, body });
    await env("", {
      upserts: [
        { key: "PLAIN", value: "a" },
        { key: "HIDDEN", value: "canary", secret: true },
      ],
    });
    await env("?environment=preview", { upserts: [{ key: "ONLY_PREVIEW", value: "b" }] });
    const answer = await home.post("/build/access", { projectId: id, deployTarget: "cloud", branch: "main" });
    expect(answer.body).toEqual({ success: true, deployment_id: expect.any(String), project_id: id });
    expect((await cloud.settled(answer.body.deployment_id)).status).toBe("ready");
    expect(await inCloud(apps, id)).toMatchObject({ id, location: "local", ...settings });
    expect(await project(apps, id)).toMatchObject({ location: "cloud", serverId: null });
    const variables = await inCloud(apps, `${id}/env`);
    expect(variables).toMatchObject([
      { key: "HIDDEN", secret: true, value: null },
      { key: "PLAIN", value: "a" },
    ]);
    expect(await inCloud(apps, `${id}/env?environment=preview`)).toMatchObject([{ key: "ONLY_PREVIEW" }]);
    expect((await cloud.world.variables.reveal(id)).get("HIDDEN")?.reveal()).toBe("canary");
  });

  test("deploys the project there from then on, with changed settings and variables", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const id = await home.project({ gitUrl: REPOSITORY, buildCommand: "npm run build" });
    const env = (body: object) => home.call("PATCH", `/api/projects/${id}/env`, { token: home.owner, body });
    await env({
      upserts: [
        { key: "A", value: "1" },
        { key: "B", value: "1" },
      ],
    });
    await home.post("/build/access", { projectId: id, deployTarget: "cloud" });
    await home.call("PATCH", `/api/projects/${id}`, {
      token: home.owner,
      body: { buildCommand: null, name: "New name" },
    });
    await env({ upserts: [{ key: "A", value: "2" }], deletes: ["B"] });
    const answer = await home.post("", { projectId: id });
    expect(answer.status).toBe(202);
    expect((await cloud.settled(answer.body.data.deployment_id)).projectId).toBe(id);
    expect(await inCloud(apps, id)).toMatchObject({ name: "New name", buildCommand: null });
    expect(await inCloud(apps, `${id}/env`)).toMatchObject([{ key: "A", value: "2" }]);
    expect((await home.world.deployments.ofProject(id)).length).toBe(0);
  });

  test("follows the mode of an upload session, and hands its files over", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const id = await home.project({});
    const uploadSessionId = await home.upload(SITE, home.owner, { mode: "cloud" });
    const answer = await home.post("/build/access", { projectId: id, uploadSessionId });
    const deployment = await cloud.settled(answer.body.deployment_id);
    expect([deployment.status, deployment.trigger]).toEqual(["ready", "upload"]);
    expect((await project(apps, id)).location).toBe("cloud");
    expect(await Array.fromAsync(home.world.uploadFiles.stored())).toEqual([]);
    const again = await home.post("/build/access", { projectId: id, uploadSessionId });
    expect(again.body).toEqual(answer.body);
    const other = await home.post("/build/access", { projectId: await home.project({}), uploadSessionId });
    expect(other.status).toBe(404);
  });

  test.each([
    ["/ensure$", "the project"],
    ["/env$", "the variables"],
    ["/folder/session$", "the upload session"],
    ["/folder/upload/", "the upload"],
    ["/build/access$", "the deployment"],
  ])("that fails at %s leaves the project as it was, and can be repeated", async (path) => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const id = await home.project({});
    const uploadSessionId = await home.upload(SITE, home.owner, { mode: "cloud" });
    const before = await project(apps, id);
    const words = { success: false, error: "Cannot do this now", code: "some_code" };
    failAt(apps, new RegExp(path), () => Response.json(words, { status: 409 }));
    const refused = await home.post("/build/access", { projectId: id, uploadSessionId });
    expect([refused.status, refused.body.code]).toEqual([409, "some_code"]);
    expect(refused.body.error).toBe("The hosted cloud answers: Cannot do this now");
    failAt(apps, new RegExp(path), () => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    expect((await home.post("/build/access", { projectId: id, uploadSessionId })).body.code).toBe("cloud_away");
    failAt(apps, new RegExp(path), () => new Response("nonsense"));
    expect((await home.post("/build/access", { projectId: id, uploadSessionId })).body.code).toBe("cloud_unreadable");
    expect(await project(apps, id)).toEqual(before);
    apps.connect();
    const answer = await home.post("/build/access", { projectId: id, uploadSessionId });
    expect((await cloud.settled(answer.body.deployment_id)).status).toBe("ready");
    const all = await cloud.call("GET", "/api/projects", { token: cloud.owner });
    expect(all.body.total).toBe(1);
  });

  test("refuses a project without a repository or an upload", async () => {
    await using apps = await linkedApps();
    const id = await apps.home.project({});
    const answer = await apps.home.post("/build/access", { projectId: id, deployTarget: "cloud" });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "uploadSessionId"]);
    expect((await apps.cloud.call("GET", "/api/projects", { token: apps.cloud.owner })).body.total).toBe(0);
  });

  test("takes nothing that is no deployment for one, and repeats no token that the cloud echoes", async () => {
    await using apps = await linkedApps();
    const id = await apps.home.project();
    const body = { projectId: id, deployTarget: "cloud" };
    for (const answer of [
      { success: true },
      { success: true, deployment_id: 5 },
      { success: true, deployment_id: "x" },
    ]) {
      failAt(apps, /build/, () => Response.json(answer));
      expect((await apps.home.post("/build/access", body)).body.code).toBe("cloud_unreadable");
    }
    const echo = { success: false, error: `bad Bearer ${apps.linkToken}`, code: "bad_token" };
    failAt(apps, /build/, () => Response.json(echo, { status: 400 }));
    const answer = await apps.home.post("/build/access", body);
    expect([answer.body.code, answer.body.error]).toEqual(["bad_token", "The hosted cloud answers: bad Bearer slp_…"]);
    expect((await project(apps, id)).location).toBe("local");
  });

  test("needs project:write here, and deployment:write afterwards", async () => {
    await using apps = await linkedApps();
    const { home } = apps;
    const id = await home.project();
    const viewer = await member(home, "viewer");
    const body = { projectId: id, deployTarget: "cloud" };
    expect((await home.post("/build/access", body, viewer.token)).status).toBe(403);
    const deployer = await home.call("POST", "/api/tokens", {
      token: home.owner,
      body: { name: "deployer", permissions: ["deployment:write"] },
    });
    const { token } = deployer.body.data;
    expect((await home.post("/build/access", body, token)).status).toBe(403);
    expect((await home.post("/build/access", body)).status).toBe(200);
    expect((await home.post("/build/access", { projectId: id }, token)).status).toBe(200);
  });

  test("is undone with the project, there first", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const id = await home.project();
    await cloud.settled(
      (await home.post("/build/access", { projectId: id, deployTarget: "cloud" })).body.deployment_id,
    );
    const remove = () => home.call("DELETE", `/api/projects/${id}`, { token: home.owner });
    apps.disconnect();
    expect((await remove()).body.code).toBe("cloud_away");
    expect((await project(apps, id)).id).toBe(id);
    apps.connect();
    expect((await remove()).status).toBe(200);
    for (const app of [home, cloud])
      expect((await app.call("GET", `/api/projects/${id}`, { token: app.owner })).status).toBe(404);
  });
});

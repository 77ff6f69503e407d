import { describe, expect, test } from "bun:test";
import { member } from "../support/apps/app.ts";
import { CLOUD_URL, linkedApps, type LinkedApps } from "../support/apps/linked_apps.ts";

/** Promotes a project with an uploaded site; resolves to its ids. */
async function promoted({ home, cloud }: LinkedApps, body: object = {}) {
  const projectId = await home.project({});
  const uploadSessionId = await home.upload({ "index.html": "<h1>Hi</h1>" }, home.owner, { mode: "cloud" });
  const answer = await home.post("/build/access", { projectId, uploadSessionId, ...body });
  if (answer.status !== 200) throw new Error(answer.text);
  const id = answer.body.deployment_id as string;
  await cloud.settled(id);
  return { projectId, id };
}

const READS = ["", "/logs", "/logs?limit=2&since=1", "/build", "/info", "/usage", "/stream"];

function endlessEvents(): Response {
  return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
}

describe("a deployment of a cloud project", () => {
  test("is read through the installation exactly as in the cloud", async () => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    for (const path of READS) {
      const here = await apps.home.get(`/${id}${path}`);
      const there = await apps.cloud.get(`/${id}${path}`);
      expect([path, here.status, here.text]).toEqual([path, there.status, there.text]);
      expect([path, here.headers.get("content-type")]).toEqual([path, there.headers.get("content-type")]);
    }
    const text = { token: apps.home.owner, headers: { accept: "text/plain" } };
    const log = await apps.home.call("GET", `/api/deployments/${id}/logs`, text);
    expect(log.headers.get("content-type")).toStartWith("text/plain");
    expect(log.text).toBe(
      (await apps.cloud.call("GET", `/api/deployments/${id}/logs`, { ...text, token: apps.cloud.owner })).text,
    );
  });

  test("is changed there: pin, redeploy, rollback, cancel, delete, and unsuitable bodies", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const { id, projectId } = await promoted(apps);
    expect((await home.post(`/${id}/pin`, { pinned: true })).body.data.pinned).toBe(true);
    expect((await cloud.get(`/${id}`)).body.data.pinned).toBe(true);
    const redeployed = await home.post(`/${id}/redeploy`, { useExistingCommit: true });
    expect([redeployed.status, redeployed.body.project_id]).toEqual([202, projectId]);
    await cloud.settled(redeployed.body.deployment_id);
    expect((await home.get(`/${redeployed.body.deployment_id}`)).body.data.redeployOf).toBe(id);
    const back = await home.post(`/${id}/rollback`);
    await cloud.settled(back.body.deployment_id);
    expect((await home.get(`/${back.body.deployment_id}`)).body.data).toMatchObject({ status: "ready", active: true });
    const cancelled = await home.post(`/${id}/cancel`);
    expect(cancelled.status).toBe(400);
    expect(cancelled.text).toBe((await cloud.post(`/${id}/cancel`)).text);
    expect((await home.post(`/${id}/pin`, { pinned: "yes" })).status).toBe(400);
    await home.post(`/${id}/pin`, { pinned: false });
    expect((await home.call("DELETE", `/api/deployments/${id}`, { token: home.owner })).status).toBe(200);
    expect((await cloud.get(`/${id}`)).status).toBe(404);
    expect((await home.get(`/${id}`)).body.code).toBe("deployment_not_found");
  });

  test("can be read and changed by members as far as they may here", async () => {
    await using apps = await linkedApps();
    const { home } = apps;
    const { id, projectId } = await promoted(apps);
    const viewer = await member(home, "viewer");
    const developer = await member(home, "developer");
    const stranger = await member(home, "restricted");
    const guest = await member(home, "restricted", {
      grants: [{ resource: "project", id: projectId, action: "read" }],
    });
    const status = async (token: string, method: string, path: string) =>
      (await home.call(method, `/api/deployments/${id}${path}`, { token })).status;
    expect(await status(viewer.token, "GET", "")).toBe(200);
    expect(await status(guest.token, "GET", "")).toBe(200);
    expect(await status(stranger.token, "GET", "")).toBe(403);
    for (const { token } of [viewer, guest]) expect(await status(token, "POST", "/redeploy")).toBe(403);
    expect(await status(developer.token, "POST", "/rollback")).toBe(403);
    expect(await status(developer.token, "POST", "/redeploy")).toBe(202);
    const { items } = await apps.cloud.world.auditLog.list(
      (await apps.cloud.call("GET", "/api/auth/me", { token: apps.cloud.owner })).body.data.organization.id,
      { action: "deployment.redeploy" },
      { page: 1, perPage: 10 },
    );
    expect(items.map(({ actingFor }) => actingFor?.email)).toEqual([developer.email]);
  });

  test("is refused by the cloud too where the installation lies about its member", async () => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    const acting = { id: "usr_1", email: "a@example.com", permissions: ["deployment:read"], grants: [] };
    const header = Buffer.from(JSON.stringify(acting)).toString("base64url");
    const call = { token: apps.linkToken, headers: { "slipway-acting-member": header } };
    expect((await apps.cloud.call("GET", `/api/deployments/${id}`, call)).status).toBe(200);
    expect((await apps.cloud.call("POST", `/api/deployments/${id}/redeploy`, { ...call, body: {} })).status).toBe(403);
  });

  test.each([
    [
      "503 of its own",
      () =>
        Response.json(
          { success: false, error: "Busy", code: "decision_takes_long" },
          { status: 503, headers: { "retry-after": "10" } },
        ),
      503,
      "decision_takes_long",
    ],
    ["502 of a proxy", () => new Response("<h1>Bad gateway</h1>", { status: 502 }), 503, "cloud_away"],
    [
      "a page",
      () => new Response("<script>1</script>", { headers: { "content-type": "text/html" } }),
      502,
      "cloud_unreadable",
    ],
    [
      "JSON that is cut",
      () => new Response('{"data":', { headers: { "content-type": "application/json" } }),
      502,
      "cloud_unreadable",
    ],
    ["an error that is none", () => Response.json({ no: "error" }, { status: 500 }), 502, "cloud_unreadable"],
  ] as const)("that the cloud answers with %s gets a clear answer", async (_, respond, status, code) => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    expect((await apps.home.get(`/${id}`)).status).toBe(200);
    apps.home.world.cloudApi.clouds.set(CLOUD_URL, respond);
    const answer = await apps.home.post(`/${id}/keep`);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    if (code === "decision_takes_long") expect(answer.headers.get("retry-after")).toBe("10");
  });

  test("is built with the variables and settings that the project has here by then", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const { id, projectId } = await promoted(apps);
    const body = { upserts: [{ key: "LATER", value: "1" }] };
    await home.call("PATCH", `/api/projects/${projectId}/env`, { token: home.owner, body });
    const redeployed = await home.post(`/${id}/redeploy`, { useExistingCommit: true });
    await cloud.settled(redeployed.body.deployment_id);
    expect([...(await cloud.world.deployments.environment(redeployed.body.deployment_id)).keys()]).toContain("LATER");
  });

  test("keeps what ran here before from being deployed here again", async () => {
    await using apps = await linkedApps();
    const { home } = apps;
    const projectId = await home.project();
    const local = await home.deploy(projectId);
    await home.settled(local);
    await home.post("/build/access", { projectId, deployTarget: "cloud" });
    for (const path of ["redeploy", "rollback"]) {
      const answer = await home.post(`/${local}/${path}`);
      expect([answer.status, answer.body.code]).toEqual([400, "target_unsupported"]);
    }
    expect((await home.post("/build/access", { projectId, deployTarget: "local" })).status).toBe(200);
  });

  test("is not asked for by another Slipway: links in a circle end", async () => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    const call = { token: apps.home.owner, headers: { "slipway-forwarded": "1" } };
    expect((await apps.home.call("GET", `/api/deployments/${id}`, call)).status).toBe(404);
  });

  test("that nobody has costs no request to the cloud where no project is there", async () => {
    await using apps = await linkedApps();
    apps.disconnect();
    const answer = await apps.home.get("/dep_01kdvdna00zxqnn8c1dx1088q6");
    expect([answer.status, answer.body.code]).toEqual([404, "deployment_not_found"]);
  });

  test("is streamed to a member a limited number of times", async () => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    await apps.home.get(`/${id}`);
    apps.home.world.cloudApi.clouds.set(CLOUD_URL, endlessEvents);
    const headers = { authorization: `Bearer ${apps.home.owner}` };
    const open = () =>
      apps.home.handle(new Request(`http://slipway.test/api/deployments/${id}/stream`, { headers }), "");
    const opened = await Promise.all(Array.from({ length: 40 }, open));
    const accepted = opened.filter(({ status }) => status === 200);
    expect([accepted.length, opened.find(({ status }) => status !== 200)?.status]).toEqual([32, 429]);
    for (const { body } of accepted) await body!.cancel();
    const again = await open();
    expect(again.status).toBe(200);
    await again.body!.cancel();
  });

  test("can be read here also after the project was moved back, and is deleted with it", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const projectId = await home.project();
    const there = (await home.post("/build/access", { projectId, deployTarget: "cloud" })).body.deployment_id;
    await home.settled((await home.post("/build/access", { projectId, deployTarget: "local" })).body.deployment_id);
    expect((await home.get(`/${there}`)).status).toBe(200);
    expect((await home.get("")).body.total).toBe(2);
    await home.call("DELETE", `/api/projects/${projectId}`, { token: home.owner });
    expect((await cloud.call("GET", `/api/projects/${projectId}`, { token: cloud.owner })).status).toBe(404);
  });

  test("is listed for a member whose grant names it alone", async () => {
    await using apps = await linkedApps();
    const { id } = await promoted(apps);
    const grants = [{ resource: "deployment", id, action: "read" }];
    const guest = await member(apps.home, "restricted", { grants });
    const { data, cloud } = (await apps.home.get("", guest.token)).body;
    expect([data.map((each: { id: string }) => each.id), cloud.complete]).toEqual([[id], true]);
  });

  test("of another project of the cloud is not found", async () => {
    await using apps = await linkedApps();
    const foreign = await apps.cloud.deploy(await apps.cloud.project());
    const answer = await apps.home.get(`/${foreign}`);
    expect([answer.status, answer.body.code]).toEqual([404, "deployment_not_found"]);
  });

  test("says that the cloud is away, or refuses the link, and nobody sees the token", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const { id } = await promoted(apps);
    apps.disconnect();
    const away = await home.get(`/${id}`);
    expect([away.status, away.body.code]).toEqual([503, "cloud_away"]);
    apps.connect();
    const tokens = (await cloud.call("GET", "/api/tokens", { token: cloud.owner })).body.data as {
      id: string;
      name: string;
    }[];
    const link = tokens.find(({ name }) => name === "link")!;
    await cloud.call("DELETE", `/api/tokens/${link.id}`, { token: cloud.owner });
    const refused = await home.get(`/${id}`);
    expect([refused.status, refused.body.code]).toEqual([502, "cloud_refused"]);
    const said = home.world.log.lines.map(({ text }) => text).join();
    for (const text of [away.text, refused.text, said]) expect(text).not.toContain(apps.linkToken);
  });
});

describe("the list of deployments", () => {
  test("holds those here and in the cloud, newest first, page by page", async () => {
    await using apps = await linkedApps();
    const { home, cloud } = apps;
    const local = await home.deploy(await home.project());
    await home.settled(local);
    cloud.world.clock.advance(60_000);
    const { id, projectId } = await promoted(apps);
    await cloud.deploy(await cloud.project());
    const list = async (query: string) => (await home.get(query)).body;
    const all = await list("");
    expect(all.data.map((each: { id: string }) => each.id)).toEqual([id, local]);
    expect(all).toMatchObject({ total: 2, cloud: { complete: true, error: null } });
    expect((await list("?perPage=1&page=2")).data.map((each: { id: string }) => each.id)).toEqual([local]);
    expect((await list(`?projectId=${projectId}`)).data.map((each: { id: string }) => each.id)).toEqual([id]);
    expect((await list("?status=failed")).total).toBe(0);
    apps.disconnect();
    const without = await list("");
    expect(without.data.map((each: { id: string }) => each.id)).toEqual([local]);
    expect(without.cloud).toEqual({ complete: false, error: expect.stringContaining("Cannot reach the hosted cloud") });
  });

  test("has no word about the cloud without cloud projects", async () => {
    await using apps = await linkedApps();
    expect((await apps.home.get("")).body).not.toHaveProperty("cloud");
  });
});

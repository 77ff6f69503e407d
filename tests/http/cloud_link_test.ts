import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { emptyCloud } from "../support/servers/empty_cloud.ts";
import { browser, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";

const PATH = "/api/cloud/link";
const LINK = { url: "https://cloud.example.com", token: "slp_canary_of_the_cloud" };

/** An application that knows clouds at both addresses. */
async function linkingApp(respond: (request: Request) => Response = emptyCloud) {
  const app = await memoryApp();
  for (const url of [LINK.url, "https://other.example.com/base"]) app.world.cloudApi.clouds.set(url, respond);
  return app;
}

/** For tests whose requests are all refused. */
const untouched = memoryApp();

/** A cloud that answers this when it is asked who the caller is. */
function cloudWithMe(body: object, status = 200) {
  return (request: Request) =>
    request.url.endsWith("/api/auth/me") ? Response.json(body, { status }) : emptyCloud(request);
}

function put({ call, owner }: TestApp, body: unknown = LINK, token = owner) {
  return call("PUT", PATH, { token, body });
}

describe("the cloud link", () => {
  test("is set, read and replaced without its token ever being returned", async () => {
    const app = await linkingApp();
    expect((await app.call("GET", PATH, { token: app.owner })).body.code).toBe("cloud_link_not_found");
    const first = await put(app);
    const updatedAt = app.world.clock.now().toISOString();
    const shown = { source: "organization", state: "linked", hasToken: true, updatedAt };
    expect(first.body).toEqual({ data: { url: LINK.url, ...shown } });
    await put(app, { url: "https://other.example.com/base/", token: "slp_another" });
    const read = await app.call("GET", PATH, { token: app.owner });
    expect(read.body.data.url).toBe("https://other.example.com/base");
    const log = app.world.log.lines.map(({ text }) => text).join();
    for (const text of [first.text, read.text, log]) expect(text).not.toMatch(/slp_canary|slp_another/);
  });

  test("can be deleted once", async () => {
    const app = await linkingApp();
    await put(app);
    expect((await app.call("DELETE", PATH, { token: app.owner })).body).toEqual({ success: true });
    expect((await app.call("DELETE", PATH, { token: app.owner })).status).toBe(404);
    expect((await app.call("GET", PATH, { token: app.owner })).status).toBe(404);
  });

  test("is accessible to owners alone, and each organization has its own", async () => {
    const app = await linkingApp();
    await put(app);
    const admin = await member(app, "admin");
    for (const method of ["GET", "DELETE"]) {
      expect((await app.call(method, PATH, { token: admin.token })).body.error).toContain('"organization:admin"');
    }
    expect((await put(app, LINK, admin.token)).status).toBe(403);
    const cookie = await ownerSession(app);
    const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    const elsewhere = browser(cookie, { "x-organization-id": second.body.data.id });
    expect((await app.call("GET", PATH, elsewhere)).status).toBe(404);
  });

  test.each([
    "not a url",
    "cloud.example.com",
    "ftp://cloud.example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://user:secret@cloud.example.com",
    "https://user@cloud.example.com",
    "https://cloud.example.com/?token=x",
    "https://cloud.example.com/#x",
    "https://",
  ])("refuses the address %p without repeating it", async (url) => {
    const answer = await put(await untouched, { ...LINK, url });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "url"]);
    expect(answer.text).not.toContain("secret");
  });

  test.each([{ token: "" }, { token: "   " }, { token: 5 }, { token: null }])("refuses %j", async (body) => {
    const answer = await put(await untouched, { ...LINK, ...body });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "token"]);
  });

  test.each([
    ["no cloud answers", undefined, 503, "cloud_away"],
    ["there is a self-hosted Slipway", () => Response.json({ status: "ok", mode: "self-hosted" }), 400, "not_a_cloud"],
    ["there is another program", () => new Response("<h1>Hi</h1>"), 400, "not_a_cloud"],
    [
      "the cloud does not know the token",
      cloudWithMe({ success: false, error: "x", code: "y" }, 401),
      502,
      "cloud_refused",
    ],
    [
      "the token is not for links",
      cloudWithMe({ data: { credential: { kind: "token", link: false } } }),
      400,
      "not_a_link_token",
    ],
  ] as const)("is not stored where %s", async (_, respond, status, code) => {
    const app = await memoryApp();
    if (respond) app.world.cloudApi.clouds.set(LINK.url, respond);
    const answer = await put(app);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await app.call("GET", PATH, { token: app.owner })).status).toBe(404);
    expect(answer.text).not.toContain("canary");
  });

  test.each([
    ["unreachable", undefined],
    ["refused", cloudWithMe({ success: false, error: "x", code: "y" }, 401)],
    ["linked", emptyCloud],
  ])("is shown as %s", async (state, respond) => {
    const app = await linkingApp();
    await put(app);
    app.world.cloudApi.clouds.clear();
    if (respond) app.world.cloudApi.clouds.set(LINK.url, respond);
    expect((await app.call("GET", PATH, { token: app.owner })).body.data.state).toBe(state);
  });

  test("of the whole installation is shown to owners, and an own one takes its place", async () => {
    const preset = { cloudApiUrl: "https://preset.example.com", cloudToken: new Secret("slp_preset_canary") };
    const app = await memoryApp(preset);
    app.world.cloudApi.clouds.set(LINK.url, emptyCloud);
    const read = () => app.call("GET", PATH, { token: app.owner });
    const shown = {
      url: preset.cloudApiUrl,
      hasToken: true,
      source: "installation",
      state: "unreachable",
      updatedAt: null,
    };
    expect((await read()).body.data).toEqual(shown);
    await put(app);
    expect((await read()).body.data).toMatchObject({ url: LINK.url, source: "organization", state: "linked" });
  });

  test("is not available in cloud mode", async () => {
    const app = await memoryApp({ mode: "cloud" });
    const answer = await put(app);
    expect([answer.status, answer.body.code]).toEqual([400, "cloud_mode"]);
  });
});

import { describe, expect, test } from "bun:test";
import { browser, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";

const PATH = "/api/cloud/link";
const LINK = { url: "https://cloud.example.com", token: "slp_canary_of_the_cloud" };

/** For tests whose requests are all refused. */
const untouched = memoryApp();

function put({ call, owner }: TestApp, body: unknown = LINK, token = owner) {
  return call("PUT", PATH, { token, body });
}

describe("the cloud link", () => {
  test("is set, read and replaced without its token ever being returned", async () => {
    const app = await memoryApp();
    expect((await app.call("GET", PATH, { token: app.owner })).body.code).toBe("cloud_link_not_found");
    const first = await put(app);
    const updatedAt = app.world.clock.now().toISOString();
    expect(first.body).toEqual({ data: { url: LINK.url, hasToken: true, updatedAt } });
    await put(app, { url: "https://other.example.com/base/", token: "slp_another" });
    const read = await app.call("GET", PATH, { token: app.owner });
    expect(read.body.data.url).toBe("https://other.example.com/base");
    const log = app.world.log.lines.map(({ text }) => text).join();
    for (const text of [first.text, read.text, log]) expect(text).not.toMatch(/slp_canary|slp_another/);
  });

  test("can be deleted once", async () => {
    const app = await memoryApp();
    await put(app);
    expect((await app.call("DELETE", PATH, { token: app.owner })).body).toEqual({ success: true });
    expect((await app.call("DELETE", PATH, { token: app.owner })).status).toBe(404);
    expect((await app.call("GET", PATH, { token: app.owner })).status).toBe(404);
  });

  test("is accessible to owners alone, and each organization has its own", async () => {
    const app = await memoryApp();
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

  test("is not available in cloud mode", async () => {
    const app = await memoryApp({ mode: "cloud" });
    const answer = await put(app);
    expect([answer.status, answer.body.code]).toEqual([400, "cloud_mode"]);
  });
});

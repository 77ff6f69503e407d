import { describe, expect, test } from "bun:test";
import { browser, type Call, login, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";

const PASSWORD = "correct horse battery";
const LOGIN = { email: "owner@localhost", password: PASSWORD };

/** An application whose first owner has a password. */
async function withOwner(settings: Parameters<typeof memoryApp>[0] = {}) {
  const app = await memoryApp(settings);
  return { ...app, cookie: await ownerSession(app) };
}

const tryLogin = ({ call }: Pick<TestApp, "call">, options: Call = {}) =>
  call("POST", "/api/auth/login", { body: LOGIN, ...options });

describe("the session cookie", () => {
  test("POST /api/auth/login sets it HttpOnly, SameSite=Lax, for the whole site, and not Secure without TLS", async () => {
    const app = await withOwner();
    const answer = await tryLogin(app);
    const [pair = "", ...attributes] = (answer.headers.get("set-cookie") ?? "").split("; ");
    expect(pair).toMatch(/^slipway_session=[\w-]{43}$/);
    expect(attributes.map((attribute) => attribute.split("=")[0]).toSorted()).toEqual([
      "Expires",
      "HttpOnly",
      "Path",
      "SameSite",
    ]);
    expect(attributes).toContain("Path=/");
    expect(attributes).toContain("SameSite=Lax");
    expect(answer.text).not.toContain(pair.split("=")[1]!);
    expect(answer.body.user).toMatchObject({ email: "owner@localhost", founder: true, hasPassword: true });
  });

  test("is Secure behind a trusted proxy that uses TLS, and behind no other", async () => {
    const app = await withOwner({ trustedProxies: ["10.0.0.0/8"] });
    const headers = { "x-forwarded-proto": "https" };
    const cookieBy = async (peer: string) => (await tryLogin(app, { headers, peer })).headers.get("set-cookie");
    expect(await cookieBy("10.1.2.3")).toContain("; Secure");
    expect(await cookieBy("11.1.2.3")).not.toContain("Secure");
  });

  test("is Secure when the request itself used TLS", async () => {
    const app = await withOwner();
    const request = new Request("https://slipway.test/api/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(LOGIN),
    });
    expect((await app.handle(request, "127.0.0.1")).headers.get("set-cookie")).toContain("; Secure");
  });

  test("POST /api/auth/logout clears it and ends the session at once", async () => {
    const app = await withOwner();
    const answer = await app.call("POST", "/api/auth/logout", browser(app.cookie));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toMatch(/^slipway_session=; .*Max-Age=0/);
    expect((await app.call("GET", "/api/auth/me", { cookie: app.cookie })).status).toBe(401);
  });

  test("expires with its session after two weeks", async () => {
    const app = await withOwner();
    app.world.clock.advance(14 * 24 * 3_600_000 - 1);
    expect((await app.call("GET", "/api/auth/me", { cookie: app.cookie })).status).toBe(200);
    app.world.clock.advance(1);
    expect((await app.call("GET", "/api/auth/me", { cookie: app.cookie })).status).toBe(401);
  });

  test("yields to a bearer token, even a wrong one", async () => {
    const app = await withOwner();
    expect((await app.call("GET", "/api/auth/me", { cookie: app.cookie, token: "slp_wrong" })).status).toBe(401);
  });

  test("a token is not accepted as a cookie, nor a cookie as a token", async () => {
    const app = await withOwner();
    expect((await app.call("GET", "/api/auth/me", { cookie: app.owner })).status).toBe(401);
    expect((await app.call("GET", "/api/auth/me", { token: app.cookie })).status).toBe(401);
  });
});

describe("the origin of a change by cookie", () => {
  test.each([
    ["none", undefined, 403],
    ["another site's", "https://evil.example", 403],
    ["an opaque one", "null", 403],
    ["one that only starts like ours", "http://slipway.test.evil.example", 403],
    ["our host on another port", "http://slipway.test:81", 403],
    ["our own", "http://slipway.test", 200],
    ["PUBLIC_URL's", "https://deploy.example.com", 200],
  ])("%s (%p) answers %p", async (_, origin, status) => {
    const app = await withOwner({ publicUrl: "https://deploy.example.com/" });
    const headers: Record<string, string> = origin === undefined ? {} : { origin };
    const answer = await app.call("PATCH", "/api/auth/me", { cookie: app.cookie, headers, body: { name: "New" } });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe("foreign_origin");
  });

  test.each([
    ["none", {}, "Cannot change anything by cookie without an Origin header"],
    ["another site's", { origin: "https://evil.example" }, "Cannot accept this change from another origin"],
  ])("with %s, the response says which header to send", async (_, headers, begins) => {
    const app = await withOwner({ publicUrl: "https://deploy.example.com/" });
    const { error } = (await app.call("PATCH", "/api/auth/me", { cookie: app.cookie, headers, body: { name: "New" } }))
      .body;
    expect(error).toStartWith(begins);
    expect(error).toContain('"Origin: https://deploy.example.com"');
    expect(error).toContain("access token");
    expect(error).not.toContain("evil");
  });

  test("does not matter to a token, nor to a read", async () => {
    const app = await withOwner();
    const headers = { origin: "https://evil.example" };
    expect((await app.call("PATCH", "/api/auth/me", { token: app.owner, headers, body: { name: "New" } })).status).toBe(
      200,
    );
    expect((await app.call("GET", "/api/auth/me", { cookie: app.cookie, headers })).status).toBe(200);
  });

  test("another site's page cannot log a browser in or accept an invitation", async () => {
    const app = await withOwner();
    const headers = { origin: "https://evil.example" };
    expect((await tryLogin(app, { headers })).body.code).toBe("foreign_origin");
    const body = { token: "x", name: "x", password: PASSWORD };
    expect((await app.call("POST", "/api/auth/accept-invitation", { headers, body })).body.code).toBe("foreign_origin");
  });
});

const STRANGER = "org_00000000000000000000000000";

/** The first owner, with two organizations. */
async function withTwo() {
  const app = await withOwner();
  const own = (await app.call("GET", "/api/auth/me", { token: app.owner })).body.data.organization.id as string;
  const made = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
  return { app, own, second: made.body.data.id as string };
}

describe("X-Organization-Id", () => {
  test("selects among the organizations of a session; without it, the first joined is used", async () => {
    const { app, own, second } = await withTwo();
    const seen = async (headers: Record<string, string>) =>
      (await app.call("GET", "/api/auth/me", { cookie: app.cookie, headers })).body.data.organization.id;
    expect(await seen({})).toBe(own);
    expect(await seen({ "x-organization-id": second })).toBe(second);
  });

  test("may name a token's own organization and no other", async () => {
    const { app, own, second } = await withTwo();
    const status = async (id: string) =>
      (await app.call("GET", "/api/auth/me", { token: app.owner, headers: { "x-organization-id": id } })).status;
    expect(await status(own)).toBe(200);
    for (const id of [second, STRANGER, "nonsense", "", `${own} `.trim().toUpperCase()]) {
      expect(await status(id)).toBe(404);
    }
  });

  test("answers foreign, unknown and malformed ones of a session the same", async () => {
    const { app, second } = await withTwo();
    const other = await member(app, "viewer");
    const texts = new Set<string>();
    for (const id of [second, STRANGER, "nonsense", "org_' OR 1=1"]) {
      const answer = await app.call("GET", "/api/auth/me", {
        cookie: other.cookie,
        headers: { "x-organization-id": id },
      });
      expect(answer.status).toBe(404);
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
  });

  test("does not hide that credentials are wrong", async () => {
    const { app } = await withTwo();
    for (const id of ["nonsense", STRANGER]) {
      const headers = { "x-organization-id": id };
      expect((await app.call("GET", "/api/auth/me", { token: "slp_wrong", headers })).status).toBe(401);
      expect((await app.call("GET", "/api/auth/me", { headers })).status).toBe(401);
    }
  });
});

describe("throttling of logins", () => {
  const wrong = { body: { ...LOGIN, password: "wrong password" } };

  test("answers 429 with the seconds to wait after ten failures in a minute, even with the right password", async () => {
    const app = await withOwner();
    for (let attempt = 0; attempt < 10; attempt++) expect((await tryLogin(app, wrong)).status).toBe(401);
    app.world.clock.advance(20_000);
    for (const options of [wrong, {}]) {
      const answer = await tryLogin(app, options);
      expect(answer.status).toBe(429);
      expect(answer.headers.get("retry-after")).toBe("40");
    }
    app.world.clock.advance(40_000);
    expect((await tryLogin(app)).status).toBe(200);
  });

  test("leaves other addresses and other accounts alone", async () => {
    const app = await withOwner();
    const other = await member(app, "viewer");
    for (let attempt = 0; attempt < 11; attempt++) await tryLogin(app, wrong);
    expect((await tryLogin(app, { peer: "192.0.2.7" })).status).toBe(200);
    expect(await login(app, other.email, other.password)).toBeString();
  });

  test("does not count successes", async () => {
    const app = await withOwner();
    for (let attempt = 0; attempt < 9; attempt++) await tryLogin(app, wrong);
    for (let attempt = 0; attempt < 30; attempt++) expect((await tryLogin(app)).status).toBe(200);
    expect((await tryLogin(app, wrong)).status).toBe(401);
    expect((await tryLogin(app, wrong)).status).toBe(429);
  });

  test("lets no more than ten of a burst through", async () => {
    const app = await withOwner();
    const answers = await Promise.all(Array.from({ length: 30 }, () => tryLogin(app, wrong)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test("treats spellings of an address as one account, and unknown accounts like known ones", async () => {
    const app = await withOwner();
    for (const email of ["owner@localhost", " OWNER@localhost ", "Owner@LOCALHOST"]) {
      for (let attempt = 0; attempt < 4; attempt++)
        await tryLogin(app, { body: { email, password: "wrong password" } });
    }
    expect((await tryLogin(app)).status).toBe(429);
    const unknown = { body: { email: "nobody@example.com", password: "wrong password" }, peer: "192.0.2.8" };
    const first = await tryLogin(app, unknown);
    const known = await tryLogin(app, { ...wrong, peer: "192.0.2.9" });
    expect({ status: first.status, text: first.text }).toEqual({ status: known.status, text: known.text });
    for (let attempt = 0; attempt < 9; attempt++) await tryLogin(app, unknown);
    expect((await tryLogin(app, unknown)).status).toBe(429);
  });
});

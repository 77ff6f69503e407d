import { describe, expect, test } from "bun:test";
import { browser, login, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";

const PASSWORD = "correct horse battery";
const DAY = 24 * 3_600_000;

async function invite({ call, owner }: TestApp, body: object, token = owner) {
  return call("POST", "/api/members", { token, body: { email: "new@example.com", role: "viewer", ...body } });
}

function accept({ call }: TestApp, token: string, body: object = {}) {
  return call("POST", "/api/auth/accept-invitation", { body: { token, name: "New", password: PASSWORD, ...body } });
}

async function narrowed({ call, owner }: TestApp, permissions: string[]) {
  const minted = await call("POST", "/api/tokens", { token: owner, body: { name: "narrow", permissions } });
  return minted.body.data.token as string;
}

describe("invitations", () => {
  test("POST /api/members shows the token and the link once, the token in the fragment alone", async () => {
    const app = await memoryApp();
    const { status, body } = await invite(app, { role: "developer" });
    expect(status).toBe(201);
    const { token, link, expiresAt, createdAt } = body.data;
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(link).toBe(`http://slipway.test/api/auth/accept-invitation#token=${token}`);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * DAY);
    const listed = await app.call("GET", "/api/members/invitations", { token: app.owner });
    expect(listed.body.data).toMatchObject([{ email: "new@example.com", role: "developer" }]);
    expect(listed.text).not.toContain(token);
  });

  test("an invitation creates a member once", async () => {
    const app = await memoryApp();
    const { token } = (await invite(app, { role: "developer" })).body.data;
    expect((await accept(app, token)).body).toMatchObject({ success: true, email: "new@example.com" });
    const cookie = await login(app, "new@example.com", PASSWORD);
    expect((await app.call("GET", "/api/auth/me", { cookie })).body.data).toMatchObject({ role: "developer" });
    const again = await accept(app, token);
    expect(again.status).toBe(400);
    expect(again.body.code).toBe("invitation_gone");
    expect((await app.call("GET", "/api/members/invitations", { token: app.owner })).body.total).toBe(0);
  });

  test("ten concurrent acceptances create one membership", async () => {
    const app = await memoryApp();
    const { token } = (await invite(app, {})).body.data;
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(app, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await app.call("GET", "/api/members", { token: app.owner })).body.total).toBe(2);
  });

  test("is valid for seven days", async () => {
    const app = await memoryApp();
    const { token } = (await invite(app, {})).body.data;
    const late = (await invite(app, { email: "late@example.com" })).body.data;
    app.world.clock.advance(7 * DAY - 1);
    expect((await accept(app, token)).status).toBe(200);
    app.world.clock.advance(1);
    expect((await accept(app, late.token)).body.code).toBe("invitation_gone");
    expect((await app.call("GET", "/api/members/invitations", { token: app.owner })).body.total).toBe(0);
  });

  test("requires the current password of a known user, and keeps name and password", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    const known = await member(app, "viewer");
    const second = (await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } })).body;
    const as = browser(cookie, { "x-organization-id": second.data.id });
    const body = { email: known.email.toUpperCase(), role: "developer" };
    const { token } = (await app.call("POST", "/api/members", { ...as, body })).body.data;
    const wrong = await accept(app, token, { password: "a password of my own" });
    expect(wrong.status).toBe(400);
    expect(wrong.body.code).toBe("wrong_password");
    expect((await accept(app, token, { name: "" })).status).toBe(200);
    const headers = { "x-organization-id": second.data.id };
    const me = await app.call("GET", "/api/auth/me", { cookie: known.cookie, headers });
    expect(me.body.data).toMatchObject({ role: "developer", user: { id: known.userId, name: "viewer" } });
  });

  test("requires a name and a password of sufficient length from a new user", async () => {
    const app = await memoryApp();
    const { token } = (await invite(app, {})).body.data;
    expect((await accept(app, token, { name: "  " })).body.details[0].path).toBe("name");
    expect((await accept(app, token, { password: "short" })).body.details[0].path).toBe("password");
    expect((await accept(app, token)).status).toBe(200);
  });

  test("throttles guesses by address and does not block others from accepting", async () => {
    const app = await memoryApp();
    const { token } = (await invite(app, {})).body.data;
    const body = { token: "x", name: "x", password: PASSWORD };
    for (let attempt = 0; attempt < 200; attempt++) {
      const peer = `192.0.2.${attempt % 20}`;
      await app.call("POST", "/api/auth/accept-invitation", { body: { ...body, token: `guess ${attempt}` }, peer });
    }
    expect((await accept(app, token)).status).toBe(200);
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 60; attempt++) {
      const answer = await app.call("POST", "/api/auth/accept-invitation", { body: { ...body, token: `${attempt}` } });
      statuses.add(answer.status);
    }
    expect(statuses).toEqual(new Set([400, 429]));
  });

  test("cannot be used to guess a password", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    await app.call("DELETE", `/api/members/${viewer.userId}`, { token: app.owner });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const { token } = (await invite(app, { email: viewer.email })).body.data;
      const body = { token, name: "x", password: `guess number ${attempt}` };
      statuses.push((await app.call("POST", "/api/auth/accept-invitation", { body })).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(400), 429, 429]);
    const body = { email: viewer.email, password: viewer.password };
    expect((await app.call("POST", "/api/auth/login", { body })).status).toBe(429);
  });

  test("is invalid once its creator lacks the permissions", async () => {
    const app = await memoryApp();
    const admin = await member(app, "admin");
    const demoted = (await invite(app, { role: "admin" }, admin.token)).body.data;
    await app.call("PATCH", `/api/members/${admin.userId}`, { token: app.owner, body: { role: "viewer" } });
    expect((await accept(app, demoted.token)).body.code).toBe("invitation_gone");
    await app.call("PATCH", `/api/members/${admin.userId}`, { token: app.owner, body: { role: "admin" } });
    const removed = (await invite(app, { role: "viewer" }, admin.token)).body.data;
    await app.call("DELETE", `/api/members/${admin.userId}`, { token: app.owner });
    expect((await accept(app, removed.token)).body.code).toBe("invitation_gone");
  });

  test("is refused for an existing member", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const answer = await invite(app, { email: viewer.email.toUpperCase() });
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe("already_member");
  });

  test("can be withdrawn, but not by a member with fewer permissions than it grants", async () => {
    const app = await memoryApp();
    const admin = await member(app, "admin");
    const { id, token } = (await invite(app, { role: "owner" })).body.data;
    expect((await app.call("DELETE", `/api/members/${id}`, { token: admin.token })).status).toBe(403);
    expect((await app.call("DELETE", `/api/members/${id}`, { token: app.owner })).status).toBe(200);
    expect((await accept(app, token)).body.code).toBe("invitation_gone");
    expect((await app.call("DELETE", `/api/members/${id}`, { token: app.owner })).status).toBe(404);
  });

  test("is replaced by a second invitation for the same address, which invalidates its link", async () => {
    const app = await memoryApp();
    const first = (await invite(app, { email: "new@example.com", role: "admin" })).body.data;
    const second = (await invite(app, { email: "New@Example.com", role: "viewer" })).body.data;
    const { body } = await app.call("GET", "/api/members/invitations", { token: app.owner });
    expect(body.data.map(({ id, role }: { id: string; role: string }) => [id, role])).toEqual([[second.id, "viewer"]]);
    expect((await accept(app, first.token)).body.code).toBe("invitation_gone");
    expect((await accept(app, second.token)).status).toBe(200);
  });

  test("with more permissions cannot be replaced by a lower member, until it has expired", async () => {
    const app = await memoryApp();
    const admin = await member(app, "admin");
    const email = "new@example.com";
    const first = (await invite(app, { email, role: "owner" })).body.data;
    const refused = await invite(app, { email, role: "viewer" }, admin.token);
    expect([refused.status, refused.body.code]).toEqual([403, "beyond_own_rights"]);
    app.world.clock.advance(8 * 24 * 3_600_000);
    expect((await invite(app, { email, role: "viewer" }, admin.token)).status).toBe(201);
    expect((await accept(app, first.token)).body.code).toBe("invitation_gone");
  });

  test("GET /api/auth/accept-invitation is a page that holds no token and loads nothing", async () => {
    const app = await memoryApp();
    const { status, text, headers } = await app.call("GET", "/api/auth/accept-invitation?token=secret-in-query");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-/,
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(text).not.toContain("secret-in-query");
    expect(text).not.toMatch(/(?:src|href)=/);
  });
});

describe("no member grants more than the credential in use has", () => {
  test("an admin cannot make, change or remove an owner", async () => {
    const app = await memoryApp();
    const admin = await member(app, "admin");
    const viewer = await member(app, "viewer");
    const owner = await member(app, "owner");
    const { call } = app;
    const token = admin.token;
    const refusals = [
      await invite(app, { role: "owner" }, token),
      await call("PATCH", `/api/members/${viewer.userId}`, { token, body: { role: "owner" } }),
      await call("PATCH", `/api/members/${admin.userId}`, { token, body: { role: "owner" } }),
      await call("PATCH", `/api/members/${owner.userId}`, { token, body: { role: "viewer" } }),
      await call("DELETE", `/api/members/${owner.userId}`, { token }),
    ];
    for (const { status, body } of refusals) expect([status, body.code]).toEqual([403, "beyond_own_rights"]);
    expect((await call("PATCH", `/api/members/${viewer.userId}`, { token, body: { role: "admin" } })).status).toBe(200);
  });

  test.each([
    [["member:admin"], { role: "viewer" }, 403],
    [["member:admin"], { role: "restricted" }, 201],
    [["member:admin"], { role: "restricted", grants: [{ resource: "project", id: "*", action: "read" }] }, 403],
    [
      ["member:admin", "project:write", "deployment:write"],
      { role: "restricted", grants: [{ resource: "project", id: "*", action: "write" }] },
      201,
    ],
    [
      ["member:admin", "project:write"],
      { role: "restricted", grants: [{ resource: "project", id: "*", action: "write" }] },
      403,
    ],
    [
      ["member:admin", "server:read"],
      { role: "restricted", grants: [{ resource: "server", id: "srv_x", action: "write" }] },
      403,
    ],
  ])("an owner's token with %j inviting %j answers %d", async (permissions, body, status) => {
    const app = await memoryApp();
    expect((await invite(app, body, await narrowed(app, permissions))).status).toBe(status);
  });

  test("a role or grant that does not exist is refused by name", async () => {
    const app = await memoryApp();
    const answers = [
      await invite(app, { role: "emperor" }),
      await invite(app, { role: "restricted", grants: [{ resource: "moon", id: "*", action: "read" }] }),
      await invite(app, { role: "restricted", grants: [{ resource: "project", id: "*", action: "own" }] }),
    ];
    for (const { status } of answers) expect(status).toBe(400);
    expect(answers.map(({ body }) => body.details[0].path)).toEqual(["role", "grants.0.resource", "grants.0.action"]);
  });
});

describe("members", () => {
  test("the last owner can neither leave nor step down", async () => {
    const app = await memoryApp();
    const { id } = (await app.call("GET", "/api/auth/me", { token: app.owner })).body.data.user;
    const path = `/api/members/${id}`;
    expect((await app.call("DELETE", path, { token: app.owner })).body.code).toBe("last_owner");
    const stepDown = () => app.call("PATCH", path, { token: app.owner, body: { role: "admin" } });
    expect((await stepDown()).body.code).toBe("last_owner");
    await member(app, "owner");
    expect((await stepDown()).status).toBe(200);
  });

  test("a removed member's tokens are invalid at once, and its sessions lose the organization", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    expect((await app.call("DELETE", `/api/members/${viewer.userId}`, { token: app.owner })).body).toEqual({
      success: true,
    });
    expect((await app.call("GET", "/api/projects", { token: viewer.token })).status).toBe(401);
    expect((await app.call("GET", "/api/projects", { cookie: viewer.cookie })).status).toBe(401);
    expect((await app.call("DELETE", `/api/members/${viewer.userId}`, { token: app.owner })).status).toBe(404);
  });

  test("a changed role applies from the next request on, for tokens and sessions", async () => {
    const app = await memoryApp();
    const developer = await member(app, "developer");
    const create = (name: string) => app.call("POST", "/api/projects", { token: developer.token, body: { name } });
    expect((await create("One")).status).toBe(201);
    await app.call("PATCH", `/api/members/${developer.userId}`, { token: app.owner, body: { role: "viewer" } });
    expect((await create("Two")).body.error).toContain('"project:write"');
    const me = await app.call("GET", "/api/auth/me", { cookie: developer.cookie });
    expect(me.body.data.role).toBe("viewer");
  });

  test("grants change without the role, and the role without the grants", async () => {
    const app = await memoryApp();
    const grant = { resource: "project", id: "*", action: "read" };
    const { userId } = await member(app, "restricted", { grants: [grant] });
    const change = async (body: object) =>
      (await app.call("PATCH", `/api/members/${userId}`, { token: app.owner, body })).body.data;
    expect(await change({ role: "viewer" })).toMatchObject({ role: "viewer", grants: [grant] });
    expect(await change({ grants: [] })).toMatchObject({ role: "viewer", grants: [] });
  });
});

describe("organizations", () => {
  test("only the first owner of the installation creates further ones, which it then owns", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    const other = await member(app, "owner");
    const create = (as: object, body: object) => app.call("POST", "/api/organizations", { ...as, body });
    const refused = await create({ token: other.token }, { name: "Second" });
    expect([refused.status, refused.body.code]).toEqual([403, "founder_only"]);
    const made = await create({ token: app.owner }, { name: "Café & Co" });
    expect(made.body.data).toMatchObject({ name: "Café & Co", slug: "cafe-co" });
    const headers = { "x-organization-id": made.body.data.id };
    expect((await app.call("GET", "/api/auth/me", { cookie, headers })).body.data.role).toBe("owner");
    expect((await create({ token: app.owner }, { name: "Again", slug: "cafe-co" })).status).toBe(409);
    expect((await create({ token: app.owner }, { name: "Again", slug: "-no-" })).status).toBe(400);
  });

  test("GET /api/organizations lists all of a session's and the one of a token", async () => {
    const app = await memoryApp();
    const cookie = await ownerSession(app);
    await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    expect((await app.call("GET", "/api/organizations", { cookie })).body.total).toBe(2);
    expect((await app.call("GET", "/api/organizations", { token: app.owner })).body.data).toMatchObject([
      { slug: "default" },
    ]);
  });
});

import { describe, expect, test } from "bun:test";
import { browser, member, memoryApp, type TestApp } from "../support/apps/app.ts";

const HOUR = 3_600_000;

function mint({ call, owner }: TestApp, body: object = {}, token = owner) {
  return call("POST", "/api/tokens", { token, body: { name: "ci", ...body } });
}

async function project({ call, owner }: TestApp, name: string): Promise<string> {
  return (await call("POST", "/api/projects", { token: owner, body: { name } })).body.data.id;
}

/** For tests whose requests are all refused. */
const untouched = memoryApp();

/** Two projects, and callers with a grant for the first one only. */
async function granted() {
  const app = await memoryApp();
  const one = await project(app, "One");
  const two = await project(app, "Two");
  const grants = [{ resource: "project", id: one, action: "write" }];
  const restricted = await member(app, "restricted", { grants });
  const byGrant = (await mint(app, { grants })).body.data.token as string;
  return { app, one, two, tokens: [restricted.token, byGrant] };
}

function grant(id: string, action: string) {
  return { grants: [{ resource: "project", id, action }] };
}

describe("a token's text", () => {
  test("is slp_ and 43 base64url characters, and is never shown again", async () => {
    const app = await memoryApp();
    const { status, body } = await mint(app);
    expect(status).toBe(201);
    expect(body.data.token).toMatch(/^slp_[A-Za-z0-9_-]{43}$/);
    expect(body.data).toMatchObject({ name: "ci", permissions: null, grants: null, expiresAt: null, lastUsedAt: null });
    const list = await app.call("GET", "/api/tokens", { token: body.data.token });
    expect(list.body.data.map(({ id }: { id: string }) => id)).toContain(body.data.id);
    expect(list.text).not.toContain(body.data.token.slice(4));
    expect(list.text).not.toContain('"token"');
    const log = app.world.log.lines.map(({ text }) => text).join("\n");
    expect(log).not.toContain(body.data.token.slice(4));
  });

  test("can be listed and revoked only by its owner", async () => {
    const app = await memoryApp();
    const viewer = await member(app, "viewer");
    const { id } = (await mint(app)).body.data;
    const list = await app.call("GET", "/api/tokens", { token: viewer.token });
    expect(list.body.data).toMatchObject([{ id: viewer.tokenId }]);
    expect((await app.call("DELETE", `/api/tokens/${id}`, { token: viewer.token })).status).toBe(404);
    expect((await app.call("DELETE", `/api/tokens/${viewer.tokenId}`, { token: app.owner })).status).toBe(404);
  });
});

describe("a narrowed token", () => {
  test("allows its permissions, those they include, and nothing else", async () => {
    const app = await memoryApp();
    const id = await project(app, "Harbour");
    const { token } = (await mint(app, { permissions: ["project:read"] })).body.data;
    expect((await app.call("GET", "/api/projects", { token })).body.total).toBe(1);
    expect((await app.call("GET", `/api/projects/${id}`, { token })).status).toBe(200);
    const refused = await app.call("PATCH", `/api/projects/${id}`, { token, body: { name: "X" } });
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    expect(refused.body.error).toContain('"project:write"');
    expect((await app.call("GET", "/api/servers", { token })).body.error).toContain('"server:list"');
  });

  test("cannot mint tokens, not even with its own permissions", async () => {
    const app = await memoryApp();
    const { token } = (await mint(app, { permissions: ["organization:admin", "project:admin"] })).body.data;
    for (const body of [{}, { permissions: ["project:read"] }, { permissions: [] }]) {
      const answer = await mint(app, body, token);
      expect([answer.status, answer.body.code]).toEqual([403, "narrowed_token"]);
    }
  });

  test("can revoke itself and no other", async () => {
    const app = await memoryApp();
    const other = (await mint(app)).body.data;
    const { id, token } = (await mint(app, { permissions: ["project:read"] })).body.data;
    expect((await app.call("DELETE", `/api/tokens/${other.id}`, { token })).body.code).toBe("narrowed_token");
    expect((await app.call("DELETE", `/api/tokens/${id}`, { token })).body).toEqual({ success: true });
    expect((await app.call("GET", "/api/auth/me", { token })).status).toBe(401);
  });

  test.each([{ permissions: [] }, { grants: [] }, { permissions: [], grants: [] }])(
    "with %j can only describe itself",
    async (body) => {
      const app = await memoryApp();
      const { token } = (await mint(app, body)).body.data;
      expect((await app.call("GET", "/api/projects", { token })).status).toBe(403);
      const me = await app.call("GET", "/api/auth/me", { token });
      expect(me.body.data.credential).toMatchObject({ kind: "token", permissions: [], grants: [] });
    },
  );

  test("shrinks with its owner's role and never grows beyond it", async () => {
    const app = await memoryApp();
    const developer = await member(app, "developer");
    const { token } = (await mint(app, { permissions: ["project:write"] }, developer.token)).body.data;
    const create = (name: string) => app.call("POST", "/api/projects", { token, body: { name } });
    expect((await create("One")).status).toBe(201);
    await app.call("PATCH", `/api/members/${developer.userId}`, { token: app.owner, body: { role: "viewer" } });
    expect((await create("Two")).status).toBe(403);
    await app.call("PATCH", `/api/members/${developer.userId}`, { token: app.owner, body: { role: "owner" } });
    expect((await app.call("GET", "/api/members", { token })).status).toBe(403);
  });
});

describe("minting", () => {
  test.each([
    ["developer", { permissions: ["server:write"] }, "server:write"],
    ["developer", { permissions: ["project:read", "project:admin"] }, "project:admin"],
    ["viewer", { permissions: ["deployment:write"] }, "deployment:write"],
    ["admin", { permissions: ["organization:admin"] }, "organization:admin"],
    ["developer", { grants: [{ resource: "project", id: "*", action: "admin" }] }, "project:admin"],
    ["viewer", { grants: [{ resource: "server", id: "srv_x", action: "write" }] }, "server:write"],
  ])("a %s cannot mint %j: 403 names %s", async (role, body, permission) => {
    const app = await memoryApp();
    const { token, cookie } = await member(app, role);
    for (const as of [{ token }, browser(cookie)]) {
      const answer = await app.call("POST", "/api/tokens", { ...as, body: { name: "wide", ...body } });
      expect(answer.status).toBe(403);
      expect(answer.body.error).toContain(`"${permission}"`);
    }
  });

  test.each([
    [{ permissions: ["project:own"] }, "permissions.0"],
    [{ permissions: ["project"] }, "permissions.0"],
    [{ permissions: ["*:*"] }, "permissions.0"],
    [{ permissions: "project:read" }, "permissions"],
    [{ grants: [{ resource: "project", id: "", action: "read" }] }, "grants.0.id"],
    [{ grants: [{ resource: "project", id: "*", action: "read", role: "owner" }] }, "grants.0.role"],
    [{ name: "" }, "name"],
    [{ name: " \n" }, "name"],
    [{ name: "x".repeat(101) }, "name"],
    [{ expiresAt: "tomorrow" }, "expiresAt"],
    [{ expiresAt: "2025-12-31T23:59:59Z" }, "expiresAt"],
    [{ expiresAt: 5 }, "expiresAt"],
    [{ userId: "usr_x" }, "userId"],
  ])("refuses %j and names %s", async (body, path) => {
    const answer = await mint(await untouched, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  test("a token's children expire no later than it does", async () => {
    const app = await memoryApp();
    const at = (hours: number) => new Date(app.world.clock.now().getTime() + hours * HOUR).toISOString();
    const parent = (await mint(app, { expiresAt: at(2) })).body.data;
    expect((await mint(app, {}, parent.token)).body.data.expiresAt).toBe(at(2));
    expect((await mint(app, { expiresAt: null }, parent.token)).body.data.expiresAt).toBe(at(2));
    expect((await mint(app, { expiresAt: at(1) }, parent.token)).body.data.expiresAt).toBe(at(1));
    expect((await mint(app, { expiresAt: at(3) }, parent.token)).status).toBe(400);
  });

  test("an expiry is exact to the millisecond", async () => {
    const app = await memoryApp();
    const expiresAt = new Date(app.world.clock.now().getTime() + 1_000).toISOString();
    const { token } = (await mint(app, { expiresAt })).body.data;
    app.world.clock.advance(999);
    expect((await app.call("GET", "/api/auth/me", { token })).body.data.credential.expiresAt).toBe(expiresAt);
    app.world.clock.advance(1);
    expect((await app.call("GET", "/api/auth/me", { token })).status).toBe(401);
  });
});

describe("a grant on one project", () => {
  test("shows that project alone in lists", async () => {
    const { app, one, tokens } = await granted();
    for (const token of tokens) {
      const list = await app.call("GET", "/api/projects", { token });
      expect(list.body).toMatchObject({ total: 1, data: [{ id: one }] });
      const domains = await app.call("GET", "/api/domains", { token });
      expect(domains.body).toMatchObject({ total: 1, data: [{ projectId: one }] });
    }
  });

  test("opens that project and answers 403 for another of the same organization, 404 for none", async () => {
    const { app, one, two, tokens } = await granted();
    for (const token of tokens) {
      const call = (method: string, path: string, body?: unknown) => app.call(method, path, { token, body });
      expect((await call("PATCH", `/api/projects/${one}`, { name: "Renamed" })).status).toBe(200);
      expect((await call("PATCH", `/api/projects/${one}/env`, { deletes: ["A"] })).status).toBe(200);
      for (const [method, path, body] of [
        ["GET", `/api/projects/${two}`, undefined],
        ["PATCH", `/api/projects/${two}`, { name: "Renamed" }],
        ["GET", `/api/projects/${two}/env`, undefined],
        ["POST", "/api/domains", { projectId: two, hostname: "two.example.com" }],
        ["POST", "/api/projects/ensure", { name: "Two" }],
        ["POST", "/api/projects/ensure", { name: "Two", projectId: two }],
        ["POST", "/api/projects", { name: "Three" }],
        ["DELETE", `/api/projects/${one}`, undefined],
      ] as const) {
        const answer = await call(method, path, body);
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(answer.body.error).toMatch(/"project:(?:read|write|admin)"/);
      }
      expect((await call("GET", "/api/projects/prj_00000000000000000000000000")).status).toBe(404);
      expect((await call("POST", "/api/projects/ensure", { name: "One" })).body).toMatchObject({ created: false });
    }
  });

  test("reaches the uploads that its deployments need, and no servers or members", async () => {
    const { app, tokens } = await granted();
    for (const token of tokens) {
      expect((await app.call("POST", "/api/projects/folder/session", { token, body: {} })).status).toBe(200);
      for (const path of ["/api/servers", "/api/members", "/api/audit", "/metrics"]) {
        expect((await app.call("GET", path, { token })).status).toBe(403);
      }
    }
  });

  test("can be passed on by a restricted member, and not widened", async () => {
    const { app, one, two, tokens } = await granted();
    const [restricted = ""] = tokens;
    expect((await mint(app, grant(one, "read"), restricted)).status).toBe(201);
    for (const wide of [grant(one, "admin"), grant(two, "read"), grant("*", "read")]) {
      expect((await mint(app, wide, restricted)).status).toBe(403);
    }
  });
});

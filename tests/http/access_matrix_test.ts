import { describe, expect, test } from "bun:test";
import { declaredRoutes } from "../../http/access.ts";
import { type Call, member, memoryApp, type TestApp } from "../support/app.ts";
import { file, tarGz } from "../support/tar_archive.ts";

/**
 * What every route answers to every kind of caller, for a request that is otherwise fine. `foreign` is an owner of another
 * organization who names this one's ids; `narrowed` is an owner's token with `project:read` alone.
 */
const CALLERS = ["anonymous", "foreign", "viewer", "developer", "narrowed", "owner"] as const;

const TABLE = `
GET    /api/health                            200 200 200 200 200 200
GET    /api/health/env                        200 200 200 200 200 200
GET    /api/openapi.json                      200 200 200 200 200 200
GET    /api/docs                              200 200 200 200 200 200
GET    /metrics                               401 200 200 200 403 200
POST   /api/auth/login                        401 401 401 401 401 401
POST   /api/auth/logout                       401 400 400 400 400 400
GET    /api/auth/accept-invitation            200 200 200 200 200 200
POST   /api/auth/accept-invitation            400 400 400 400 400 400
GET    /api/auth/me                           401 200 200 200 200 200
PATCH  /api/auth/me                           401 200 200 200 403 200
POST   /api/auth/password                     401 200 200 200 403 200
GET    /api/tokens                            401 200 200 200 200 200
POST   /api/tokens                            401 201 201 201 403 201
DELETE /api/tokens/:id                        401 404 404 404 403 200
GET    /api/organizations                     401 200 200 200 403 200
POST   /api/organizations                     401 403 403 403 403 201
GET    /api/members                           401 200 200 200 403 200
GET    /api/members/invitations               401 200 200 200 403 200
POST   /api/members                           401 201 403 403 403 201
PATCH  /api/members/:id                       401 404 403 403 403 200
DELETE /api/members/:id                       401 404 403 403 403 200
GET    /api/audit                             401 200 200 200 403 200
GET    /api/projects                          401 200 200 200 200 200
POST   /api/projects                          401 201 403 201 403 201
POST   /api/projects/ensure                   401 200 403 200 403 200
GET    /api/projects/:id                      401 404 200 200 200 200
PATCH  /api/projects/:id                      401 404 403 200 403 200
DELETE /api/projects/:id                      401 404 403 403 403 200
POST   /api/projects/:id/git/link             401 404 403 200 403 200
POST   /api/projects/:id/auto-deploy          401 404 403 200 403 200
GET    /api/projects/:id/env                  401 404 200 200 200 200
PATCH  /api/projects/:id/env                  401 404 403 200 403 200
POST   /api/projects/folder/session           401 200 403 200 403 200
POST   /api/projects/folder/upload/:sessionId 401 404 403 404 403 200
POST   /api/projects/folder/scan/:sessionId   401 404 403 404 403 200
GET    /api/domains                           401 200 200 200 200 200
POST   /api/domains                           401 404 403 201 403 201
POST   /api/domains/:id/verify                401 404 403 200 403 200
DELETE /api/domains/:id                       401 404 403 403 403 200
GET    /api/servers                           401 200 200 200 403 200
POST   /api/servers                           401 201 403 403 403 201
GET    /api/servers/:id                       401 404 200 200 403 200
PATCH  /api/servers/:id                       401 404 403 403 403 200
DELETE /api/servers/:id                       401 404 403 403 403 200
POST   /api/servers/:id/check                 401 404 403 403 403 200
GET    /api/cloud/link                        401 404 403 403 403 200
PUT    /api/cloud/link                        401 200 403 403 403 200
DELETE /api/cloud/link                        401 404 403 403 403 200
`;

const rows = TABLE.trim()
  .split("\n")
  .map((line) => {
    const [method = "", path = "", ...statuses] = line.trim().split(/\s+/);
    return { route: `${method} ${path}`, method, path, statuses: statuses.map(Number) };
  });

/** Paths that contract section 3 opens to callers without credentials. */
const OPEN = [
  "GET /api/health",
  "GET /api/health/env",
  "GET /api/openapi.json",
  "GET /api/docs",
  "POST /api/auth/login",
  "GET /api/auth/accept-invitation",
  "POST /api/auth/accept-invitation",
];

const SERVER = { name: "Berlin", sshHost: "berlin.example.com", sshUser: "deploy", sshPassword: "letmein" };

/** An organization with one thing of every kind, and callers of every kind. */
async function furnished() {
  const app = await memoryApp();
  const { call, owner } = app;
  const logins = [{ user: SERVER.sshUser, password: SERVER.sshPassword }];
  app.world.remoteHosts.add({
    host: SERVER.sshHost,
    hostKey: "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    logins,
  });
  const id = async (method: string, path: string, body: unknown) => {
    const answer = await call(method, path, { token: owner, body });
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.text}`);
    return (answer.body.data?.id ?? answer.body.sessionId) as string;
  };
  const project = await id("POST", "/api/projects", { name: "Harbour", gitOwner: "acme", gitRepo: "harbour" });
  const domain = await id("POST", "/api/domains", { projectId: project, hostname: "harbour-two.localhost" });
  const server = await id("POST", "/api/servers", SERVER);
  const token = await id("POST", "/api/tokens", { name: "spare" });
  const upload = await id("POST", "/api/projects/folder/session", {});
  const scanned = await id("POST", "/api/projects/folder/session", {});
  await call("POST", `/api/projects/folder/upload/${scanned}`, { token: owner, raw: archive() });
  await call("PUT", "/api/cloud/link", {
    token: owner,
    body: { url: "https://cloud.example.com", token: "slp_cloud" },
  });
  return { app, ids: { project, domain, server, token, upload, scanned }, ...(await callers(app)) };
}

function archive() {
  return tarGz([file("index.html", "<h1>Hi</h1>")]);
}

async function callers(app: TestApp) {
  const { call, owner } = app;
  const viewer = await member(app, "viewer");
  const developer = await member(app, "developer");
  const narrowed = await call("POST", "/api/tokens", {
    token: owner,
    body: { name: "narrow", permissions: ["project:read"] },
  });
  const password = "correct horse battery";
  await call("POST", "/api/auth/password", { token: owner, body: { password } });
  const cookie =
    /slipway_session=([^;]+)/.exec(
      (await call("POST", "/api/auth/login", { body: { email: "owner@localhost", password } })).headers.get(
        "set-cookie",
      ) ?? "",
    )?.[1] ?? "";
  const other = await call("POST", "/api/organizations", { token: owner, body: { name: "Elsewhere" } });
  const foreign = await member(app, "owner", { cookie, organizationId: other.body.data.id });
  const tokens = {
    anonymous: undefined,
    foreign: foreign.token,
    viewer: viewer.token,
    developer: developer.token,
    narrowed: narrowed.body.data.token,
    owner,
  };
  return { tokens, viewerId: viewer.userId };
}

type Furnished = Awaited<ReturnType<typeof furnished>>;

/** A request of a route that would go well for somebody who may send it. */
function request(
  method: string,
  path: string,
  { ids, viewerId, who }: Furnished & { who: string },
): { path: string; call: Call } {
  const bodies: Record<string, unknown> = {
    "POST /api/auth/login": { email: "nobody@example.com", password: "wrong" },
    "POST /api/auth/accept-invitation": { token: "unknown", name: "X", password: "correct horse battery" },
    "PATCH /api/auth/me": { name: "Renamed" },
    "POST /api/auth/password": { password: "another long password", current: "correct horse battery" },
    "POST /api/tokens": { name: "new" },
    "POST /api/organizations": { name: `Third ${who}` },
    "POST /api/members": { email: `${who}@example.com`, role: "viewer" },
    "PATCH /api/members/:id": { role: "developer" },
    "POST /api/projects": { name: `Quay ${who}` },
    "POST /api/projects/ensure": { name: "Quay" },
    "PATCH /api/projects/:id": { name: "Renamed" },
    "POST /api/projects/:id/git/link": { owner: "acme", repo: "other" },
    "POST /api/projects/:id/auto-deploy": { enabled: true },
    "PATCH /api/projects/:id/env": { upserts: [{ key: "A", value: "b" }] },
    "POST /api/projects/folder/session": {},
    "POST /api/domains": { projectId: ids.project, hostname: `${who}.example.com` },
    "POST /api/servers": { ...SERVER, name: `For ${who}` },
    "PATCH /api/servers/:id": { name: "Renamed" },
    "PUT /api/cloud/link": { url: "https://cloud.example.com", token: "slp_x" },
  };
  const scan = path.includes("/scan/");
  const kinds: [RegExp, string][] = [
    [/tokens/, ids.token],
    [/members/, viewerId],
    [/domains/, ids.domain],
    [/servers/, ids.server],
    [/projects/, ids.project],
  ];
  const id = kinds.find(([pattern]) => pattern.test(path))?.[1] ?? "";
  const filled = path.replace(":sessionId", scan ? ids.scanned : ids.upload).replace(":id", id);
  if (path.includes("/upload/")) return { path: filled, call: { raw: archive() } };
  const body = bodies[`${method} ${path}`];
  return { path: filled, call: body === undefined ? {} : { body } };
}

test("every route has a row, and every row a route", async () => {
  const { routes } = await memoryApp();
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    rows.map(({ route }) => route).toSorted(),
  );
});

test("exactly the agreed routes are open without credentials", async () => {
  const { routes } = await memoryApp();
  const open = routes.filter((route) => route.open !== undefined).map(({ method, path }) => `${method} ${path}`);
  expect(open.toSorted()).toEqual(OPEN.toSorted());
});

test("a route that declares no access stops the start", () => {
  expect(() => declaredRoutes({ routes: [{ method: "GET", path: "/x", hooks: {} }] })).toThrow("GET /x");
});

describe.each(rows)("$route", ({ method, path, statuses }) => {
  test("answers every kind of caller as the table says", async () => {
    const scene = await furnished();
    const answers: Record<string, number> = {};
    for (const who of CALLERS) {
      const { path: filled, call } = request(method, path, { ...scene, who });
      const token = scene.tokens[who];
      const answer = await scene.app.call(method, filled, { ...call, ...(token && { token }) });
      answers[who] = answer.status;
      if (answer.status === 403) expect(answer.body.error).toMatch(/permission "|narrowed token|first owner/);
    }
    expect(answers).toEqual(Object.fromEntries(CALLERS.map((who, index) => [who, statuses[index]!])));
  });
});

const guarded = rows.filter(({ route }) => !OPEN.includes(route));

test.each(guarded)(
  "$route answers credentials that are unknown, malformed, revoked or expired with 401",
  async ({ method, path }) => {
    const scene = await shared();
    const asked = request(method, path, { ...scene, who: "nobody" });
    for (const token of scene.dead) {
      const answer = await scene.app.call(method, asked.path, { ...asked.call, token });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    for (const authorization of ["Basic abc", "Bearer", "Bearer a b", "slp_x"]) {
      const answer = await scene.app.call(method, asked.path, { ...asked.call, headers: { authorization } });
      expect(answer.status).toBe(401);
    }
  },
);

const named = rows.filter(({ path }) => path.includes(":"));

test.each(named)(
  "$route answers ids of others and ids that never were the same to the byte",
  async ({ method, path }) => {
    const scene = await shared();
    const { path: filled, call } = request(method, path, { ...scene, who: "foreign" });
    const token = scene.tokens.foreign!;
    const foreign = await scene.app.call(method, filled, { ...call, token });
    const last = path.split("/").findLastIndex((part) => part.startsWith(":"));
    const real = filled.split("/")[last]!;
    const missing = real.slice(0, 4) + real.slice(4).split("").toReversed().join("");
    const never = await scene.app.call(method, filled.replace(real, missing), { ...call, token });
    expect({ status: foreign.status, text: foreign.text }).toEqual({ status: never.status, text: never.text });
    expect(never.status).toBe(404);
  },
);

let scene: ReturnType<typeof withDeadTokens> | undefined;

/** A scene for tests that change nothing. */
function shared() {
  return (scene ??= withDeadTokens());
}

async function withDeadTokens() {
  const made = await furnished();
  const { call, owner, world } = made.app;
  const mint = async (extra: object = {}) =>
    (await call("POST", "/api/tokens", { token: owner, body: { name: "t", ...extra } })).body.data;
  const revoked = await mint();
  await call("DELETE", `/api/tokens/${revoked.id}`, { token: owner });
  const expired = await mint({ expiresAt: new Date(world.clock.now().getTime() + 1_000).toISOString() });
  world.clock.advance(2_000);
  return { ...made, dead: ["slp_unknown", revoked.token as string, expired.token as string] };
}

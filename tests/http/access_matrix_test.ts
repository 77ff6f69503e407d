import { describe, expect, test } from "bun:test";
import { declaredRoutes } from "../../http/access.ts";
import { memoryApp } from "../support/app.ts";
import { callers, furnish, goodRequest, MACHINE } from "../support/furnished.ts";

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

/** An organization with one thing of every kind, and callers of every kind. */
async function furnished() {
  const app = await memoryApp();
  app.world.remoteHosts.add(MACHINE);
  return { app, ids: await furnish(app), tokens: await callers(app) };
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
      const { path: filled, call } = goodRequest(method, path, scene.ids, who);
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
    const asked = goodRequest(method, path, scene.ids, "nobody");
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
    const { path: filled, call } = goodRequest(method, path, scene.ids, "foreign");
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

import { describe, expect, test } from "bun:test";
import { declaredRoutes } from "../../http/access.ts";
import { ACCESS_TABLE, CALLERS } from "../support/inputs/access_table.ts";
import { memoryApp } from "../support/apps/app.ts";
import { callers, furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";

/** Routes that contract section 3 opens to callers without credentials. */
const OPEN = [
  "GET /api/health",
  "GET /api/health/env",
  "GET /api/openapi.json",
  "GET /api/docs",
  "POST /api/auth/login",
  "GET /api/auth/accept-invitation",
  "POST /api/auth/accept-invitation",
  "GET /api/githost/connect/redirect",
  "POST /api/githost/connect/redirect",
  "POST /api/githost/webhook",
];

/** An organization with one resource of every kind, and callers of every kind. */
async function furnished() {
  const app = await memoryApp();
  app.world.remoteHosts.add(MACHINE);
  return { app, ids: await furnish(app), tokens: await callers(app) };
}

test("every route has a row, and every row a route", async () => {
  const { routes } = await memoryApp();
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    ACCESS_TABLE.map(({ route }) => route).toSorted(),
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

describe.each(ACCESS_TABLE)("$route", ({ method, path, statuses }) => {
  test("answers every kind of caller according to the table", async () => {
    const scene = await furnished();
    const answers: Record<string, number> = {};
    for (const who of CALLERS) {
      const { path: filled, call } = goodRequest(method, path, scene.ids, who);
      const token = scene.tokens[who];
      const answer = await scene.app.call(method, filled, { ...call, ...(token && { token }) });
      answers[who] = answer.status;
      if (answer.status === 403) expect(answer.body.error).toMatch(/permission "|limited token|first owner/);
    }
    expect(answers).toEqual(Object.fromEntries(CALLERS.map((who, index) => [who, statuses[index]!])));
  });
});

const guarded = ACCESS_TABLE.filter(({ route }) => !OPEN.includes(route));

test.each(guarded)(
  "$route answers credentials that are unknown, malformed, revoked or expired with 401",
  async ({ method, path }) => {
    const scene = await shared();
    const request = goodRequest(method, path, scene.ids, "anonymous");
    for (const token of scene.dead) {
      const answer = await scene.app.call(method, request.path, { ...request.call, token });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    for (const authorization of ["Basic abc", "Bearer", "Bearer a b", "slp_x"]) {
      const answer = await scene.app.call(method, request.path, { ...request.call, headers: { authorization } });
      expect(answer.status).toBe(401);
    }
  },
);

/** Repositories belong to the git host: what an organization without a connection gets does not depend on their names. */
const named = ACCESS_TABLE.filter(({ path }) => path.includes(":") && !path.startsWith("/api/githost/"));

test.each(named)("$route answers foreign and unknown ids with identical bytes", async ({ method, path }) => {
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
});

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

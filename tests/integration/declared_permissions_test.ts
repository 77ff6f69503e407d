import { describe, expect, test } from "bun:test";
import { ACTIONS, type Permission, RESOURCES } from "../../domain/identity/permission.ts";
import { ACCESS_TABLE } from "../support/inputs/access_table.ts";
import { memoryApp } from "../support/apps/app.ts";
import { furnish, goodRequest, MACHINE } from "../support/apps/furnished.ts";

const { routes, call } = await memoryApp();
const { paths } = (await call("GET", "/api/openapi.json")).body;

/** The permissions that the OpenAPI document declares for each route. */
const declared = ACCESS_TABLE.flatMap(({ route, method, path }) => {
  const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")][method.toLowerCase()];
  const permission = operation["x-permission"] as Permission | "self" | undefined;
  if (permission === undefined || permission === "self") return [];
  return [{ route, method, path, permission, handler: operation["x-handler-permission"] as Permission | undefined }];
});

const VIEWER = RESOURCES.map((resource) => `${resource}:read` as const);
const DEVELOPER = [...VIEWER, "deployment:write", "githost:write", "project:write"] as const;

/** The permissions that a request grants or revokes, which requires holding them. */
const CONCERNED: Readonly<Record<string, readonly Permission[]>> = {
  "POST /api/members": VIEWER,
  "PATCH /api/members/:id": DEVELOPER,
  "DELETE /api/members/:id": VIEWER,
};

/** An organization with one resource of every kind, for one request. */
async function scene(method: string, path: string) {
  const app = await memoryApp();
  app.world.remoteHosts.add(MACHINE);
  const request = goodRequest(method, path, await furnish(app), "owner");
  return async (permissions?: readonly Permission[]) => {
    const body = { name: "narrowed", permissions };
    const made = permissions && (await app.call("POST", "/api/tokens", { token: app.owner, body }));
    return app.call(method, request.path, { ...request.call, token: made?.body.data.token ?? app.owner });
  };
}

/** Everything that a caller may hold without this permission: the action below it, and all other resources. */
function justBelow(permission: Permission): Permission[] {
  const [resource, action] = permission.split(":") as [(typeof RESOURCES)[number], (typeof ACTIONS)[number]];
  const below = ACTIONS[ACTIONS.indexOf(action) - 1];
  const others = RESOURCES.filter((other) => other !== resource).map((other) => `${other}:admin` as const);
  return [...others, ...(below ? [`${resource}:${below}` as const] : [])];
}

describe.each(declared)("$route", ({ route, method, path, permission, handler }) => {
  test("refuses a caller with all permissions but the declared one, which it names", async () => {
    const ask = await scene(method, path);
    const { status, body } = await ask(justBelow(permission));
    expect([status, body.error]).toEqual([403, expect.stringContaining(`"${permission}"`)]);
  });

  test("answers a caller with exactly the declared permission like an owner", async () => {
    const [ask, asOwner] = [await scene(method, path), await scene(method, path)];
    if (handler) {
      const { status, body } = await ask([permission]);
      expect([status, body.error]).toEqual([403, expect.stringContaining(`"${handler}"`)]);
      expect((await ask(justBelow(handler))).status).toBe(403);
    }
    const concerned = CONCERNED[route] ?? [];
    if (concerned.length > 0) expect((await ask([permission])).body.code).toBe("beyond_own_rights");
    const { status } = await ask([handler ?? permission, ...concerned]);
    expect(status).toBe((await asOwner()).status);
    expect(status).not.toBe(403);
  });
});

test("every route with a permission is compared", () => {
  const guarded = routes.filter(({ permission }) => permission !== undefined && permission !== "self");
  expect(declared).toHaveLength(guarded.length);
  expect(declared.filter(({ handler }) => handler).map(({ route }) => route)).toEqual([
    "POST /api/deployments/:id/rollback",
    "POST /api/deployments/:id/cancel",
  ]);
});

test("a permission that the handler requires is in the description too", () => {
  for (const path of ["rollback", "cancel"]) {
    const { description, ...operation } = paths[`/api/deployments/{id}/${path}`].post;
    expect(operation).toMatchObject({ "x-permission": "deployment:write", "x-handler-permission": "deployment:admin" });
    expect(description).toContain("deployment:write");
    expect(description).toContain("deployment:admin");
  }
});

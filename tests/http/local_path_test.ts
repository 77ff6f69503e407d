import { expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import type { AppSettings } from "../../compose.ts";
import { member, memoryApp } from "../support/app.ts";

const folders = new MemoryHostFolders(["/srv/apps/one", "/home/ada/site", "/data/slipway/uploads"], {
  "/srv/apps/escape": "/home/ada",
  "/home/shortcut": "/data/slipway",
});

let made = 0;

async function scene(settings: Partial<AppSettings> = {}) {
  const local = await memoryApp({ localSourceRoots: ["/srv/apps"], ...settings }, () => ({ hostFolders: folders }));
  const { token } = await member(local, "developer");
  const admin = (await member(local, "admin")).token;
  const narrowed = (
    await local.call("POST", "/api/tokens", {
      token: local.owner,
      body: { name: "n", permissions: ["project:write"] },
    })
  ).body.data.token;
  const create = (by: string, localPath: string) =>
    local.call("POST", "/api/projects", { token: by, body: { name: `L${made++}`, localPath } });
  return { local, developer: token, admin, narrowed, create };
}

test("localPath is any readable folder for owners and admins, one in LOCAL_SOURCE_ROOTS for others and narrowed tokens", async () => {
  const { local, developer, admin, narrowed, create } = await scene();
  for (const [path, below, above] of [
    ["/srv/apps/one", 201, 201],
    ["/srv/apps", 201, 201],
    ["/srv/apps/../apps/one", 201, 201],
    ["/home/ada/site", 403, 201],
    ["/srv/apps/escape/site", 403, 201],
    ["/srv/apps/../../home/ada", 403, 201],
    ["/srv/appsx", 403, 400],
    ["/nowhere", 403, 400],
    ["/data/slipway", 403, 400],
    ["/data/slipway/uploads", 403, 400],
    ["/data", 403, 400],
    ["/", 403, 400],
    ["/home/shortcut/uploads", 403, 400],
    ["srv/apps/one", 400, 400],
    ["./x", 400, 400],
  ] as const) {
    for (const by of [developer, narrowed]) expect([path, (await create(by, path)).status]).toEqual([path, below]);
    for (const by of [admin, local.owner]) expect([path, (await create(by, path)).status]).toEqual([path, above]);
  }
});

test("localPath is refused with 403 in cloud mode, to everybody, on every way in", async () => {
  const { local, developer, create } = await scene({ mode: "cloud" });
  expect((await create(developer, "/srv/apps/one")).body.code).toBe("local_source_forbidden");
  const { id } = (await local.call("POST", "/api/projects", { token: local.owner, body: { name: "Plain" } })).body.data;
  const body = { localPath: "/srv/apps/one" };
  expect((await local.call("PATCH", `/api/projects/${id}`, { token: local.owner, body })).status).toBe(403);
  expect(
    (await local.call("POST", "/api/projects/ensure", { token: local.owner, body: { name: "E", ...body } })).status,
  ).toBe(403);
});

test("localPath is the project's source, and null takes it back", async () => {
  const { local, create } = await scene();
  const { data } = (await create(local.owner, "/srv/apps/one")).body;
  expect(data).toMatchObject({ source: "local", localPath: "/srv/apps/one" });
  const patched = await local.call("PATCH", `/api/projects/${data.id}`, {
    token: local.owner,
    body: { localPath: null },
  });
  expect(patched.body.data).toMatchObject({ source: "upload", localPath: null });
});

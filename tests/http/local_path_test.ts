import { expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import type { AppSettings } from "../../wiring/build_application.ts";
import { member, memoryApp } from "../support/apps/app.ts";

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

test("localPath may be any readable folder for owners and admins, one in LOCAL_SOURCE_ROOTS for others and narrowed tokens", async () => {
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

test("localPath is refused with 403 in cloud mode, for every role and on every route", async () => {
  const { local, developer, create } = await scene({ mode: "cloud" });
  expect((await create(developer, "/srv/apps/one")).body.code).toBe("local_source_forbidden");
  const { id } = (await local.call("POST", "/api/projects", { token: local.owner, body: { name: "Plain" } })).body.data;
  const body = { localPath: "/srv/apps/one" };
  expect((await local.call("PATCH", `/api/projects/${id}`, { token: local.owner, body })).status).toBe(403);
  expect(
    (await local.call("POST", "/api/projects/ensure", { token: local.owner, body: { name: "E", ...body } })).status,
  ).toBe(403);
});

test("localPath is the project's source, and null clears it", async () => {
  const { local, create } = await scene();
  const { data } = (await create(local.owner, "/srv/apps/one")).body;
  expect(data).toMatchObject({ source: "local", localPath: "/srv/apps/one" });
  const patched = await local.call("PATCH", `/api/projects/${data.id}`, {
    token: local.owner,
    body: { localPath: null },
  });
  expect(patched.body.data).toMatchObject({ source: "upload", localPath: null });
});

/** An application whose symlinks a test can change at runtime. */
async function movable() {
  let links: Record<string, string> = {};
  const real = () => new MemoryHostFolders(["/srv/apps/one", "/home/ada/site", "/data/slipway/uploads"], links);
  const hostFolders = {
    resolve: (path: string) => real().resolve(path),
    locate: (path: string) => real().locate(path),
  };
  const app = await memoryApp({ localSourceRoots: ["/srv/apps"] }, () => ({ hostFolders }));
  const { token: developer } = await member(app, "developer");
  const post = (by: string, path: string, body: object = {}) => app.call("POST", path, { token: by, body });
  return {
    owner: app.owner,
    developer,
    move: (moved: Record<string, string>) => (links = moved),
    project: async (by: string, localPath: string) =>
      (await post(by, "/api/projects", { name: `M${made++}`, localPath })).body.data.id as string,
    change: (by: string, id: string, body: object) => app.call("PATCH", `/api/projects/${id}`, { token: by, body }),
    deploy: (by: string, projectId: string) => post(by, "/api/deployments", { projectId }),
    redeploy: (by: string, id: string) => post(by, `/api/deployments/${id}/redeploy`),
  };
}

test("a developer deploys and redeploys a folder that an admin set, and cannot set one itself", async () => {
  const { owner, developer, project, change, deploy, redeploy } = await movable();
  const id = await project(owner, "/home/ada/site");
  const deployed = await deploy(developer, id);
  expect(deployed.status).toBe(202);
  expect((await redeploy(developer, deployed.body.data.deployment_id)).status).toBe(202);
  expect((await change(developer, id, { name: "Renamed" })).status).toBe(200);
  expect((await deploy(developer, id)).status).toBe(202);
  expect((await change(developer, id, { localPath: "/home/ada/site" })).status).toBe(403);
  expect((await change(owner, id, { localPath: "/home/ada" })).body.data).not.toHaveProperty("localPathByAdmin");
  expect((await deploy(developer, id)).status).toBe(202);
});

test("a folder is checked again when it is deployed, independently of who set it", async () => {
  const { owner, developer, project, move, deploy, redeploy } = await movable();
  move({ "/srv/link": "/home/ada/site" });
  const id = await project(owner, "/srv/link");
  const first = (await deploy(developer, id)).body.data.deployment_id;
  for (const target of ["/nowhere", "/data/slipway", "/data/slipway/uploads"]) {
    move({ "/srv/link": target });
    for (const by of [developer, owner]) {
      const answers = [await deploy(by, id), await redeploy(by, first)];
      for (const { status, body } of answers) expect([status, body.details[0].path]).toEqual([400, "localPath"]);
    }
  }
});

test("a folder that a developer set stays inside LOCAL_SOURCE_ROOTS, even if it becomes a link", async () => {
  const { owner, developer, project, change, move, deploy, redeploy } = await movable();
  move({ "/srv/apps/mine": "/srv/apps/one" });
  const id = await project(developer, "/srv/apps/mine");
  const first = (await deploy(developer, id)).body.data.deployment_id;
  move({ "/srv/apps/mine": "/home/ada/site" });
  expect([(await deploy(developer, id)).status, (await redeploy(developer, first)).status]).toEqual([403, 403]);
  expect([(await deploy(owner, id)).status, (await redeploy(owner, first)).status]).toEqual([202, 202]);
  await change(owner, id, { localPath: "/home/ada/site" });
  expect((await deploy(developer, id)).status).toBe(202);
  // A redeployment uses the project's current folder.
  expect((await redeploy(developer, first)).status).toBe(202);
  for (const localPath of [null, "/srv/apps/one"]) await change(developer, id, { localPath });
  move({ "/srv/apps/one": "/home/ada/site" });
  expect((await deploy(developer, id)).status).toBe(403);
});

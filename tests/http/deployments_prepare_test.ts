import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { member, memoryApp } from "../support/apps/app.ts";
import { APP } from "../support/apps/engine_scene.ts";

const ADDRESS = "https://git.example.com/acme/shop.git";

async function scene(settings: Parameters<typeof memoryApp>[0] = {}) {
  const app = await memoryApp(settings, () => ({ hostFolders: new MemoryHostFolders(["/srv/shop"]) }));
  const { known } = app.world.sources;
  known.git[ADDRESS] = { commits: [{ sha: "1", message: "m", branches: ["main"], files: APP }] };
  known.local["/srv/shop"] = APP;
  const prepare = (body: object) => app.call("POST", "/api/deployments/prepare", { token: app.owner, body });
  return { app, prepare };
}

describe("POST /api/deployments/prepare", () => {
  test.each([
    { source: "githost", owner: "acme", repo: "shop" },
    { source: "githost", owner: "acme", repo: "shop", branch: "main" },
    { source: "local", path: "/srv/shop" },
    { gitUrl: ADDRESS },
    { gitUrl: ADDRESS, branch: "main" },
  ])("describes how %j would be built, and leaves nothing", async (body) => {
    const { app, prepare } = await scene();
    const answer = await prepare(body);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      language: "javascript",
      packageManager: "npm",
      buildCommand: "npm run build",
      startCommand: "npm run start",
      projectType: "app",
      warnings: expect.any(Array),
    });
    expect(await Array.fromAsync(app.world.releaseFolders.list())).toEqual([]);
    expect((await app.call("GET", "/api/deployments", { token: app.owner })).body.total).toBe(0);
    expect(app.world.builder.requests).toEqual([]);
  });

  test.each([
    [{ source: "githost", repo: "shop" }, "owner"],
    [{ source: "githost", owner: "acme" }, "repo"],
    [{ source: "githost", owner: "-acme", repo: "shop" }, "owner"],
    [{ source: "githost", owner: "acme", repo: "../shop" }, "repo"],
    [{ source: "githost", owner: "acme", repo: "shop", branch: "--upload-pack=x" }, "branch"],
    [{ source: "local" }, "path"],
    [{ source: "local", path: "srv" }, "path"],
    [{ source: "local", path: "/nowhere" }, "path"],
    [{ source: "ftp" }, "source"],
    [{}, "source"],
    [{ branch: "main" }, "source"],
    [{ gitUrl: "http://git.example.com/acme/shop.git" }, "gitUrl"],
    [{ gitUrl: "https://me:secret@git.example.com/acme/shop.git" }, "gitUrl"],
    [{ gitUrl: "file:///etc" }, "gitUrl"],
    [{ gitUrl: "--upload-pack=x" }, "gitUrl"],
    [{ gitUrl: "" }, "gitUrl"],
    [{ gitUrl: ADDRESS, branch: "--upload-pack=x" }, "branch"],
    [{ gitUrl: ADDRESS, source: "githost", owner: "acme", repo: "shop" }, "gitUrl"],
    [{ gitUrl: ADDRESS, source: "local", path: "/srv/shop" }, "gitUrl"],
    [{ gitUrl: ADDRESS, owner: "acme" }, "gitUrl"],
  ])("refuses %j and names %s", async (body, field) => {
    const { prepare } = await scene();
    const answer = await prepare(body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, field]);
  });

  test("refuses an address like a project does, with the same message", async () => {
    const { app, prepare } = await scene();
    const gitUrl = "http://git.example.com/acme/shop.git";
    const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Shop", gitUrl } });
    expect((await prepare({ gitUrl })).body.details).toEqual(project.body.details);
  });

  test("reports what is wrong with a repository or branch that does not exist, and leaves nothing", async () => {
    const { app, prepare } = await scene();
    expect((await prepare({ source: "githost", owner: "acme", repo: "none" })).body.code).toBe("git_not_found");
    const branch = await prepare({ source: "githost", owner: "acme", repo: "shop", branch: "gone" });
    expect([branch.status, branch.body.code]).toEqual([400, "git_branch_not_found"]);
    const elsewhere = await prepare({ gitUrl: "https://git.example.com/acme/none.git" });
    expect(elsewhere.body.code).toBe("git_not_found");
    expect((await prepare({ gitUrl: ADDRESS, branch: "gone" })).body.code).toBe("git_branch_not_found");
    expect(await Array.fromAsync(app.world.releaseFolders.list())).toEqual([]);
  });
});

describe("in cloud mode", () => {
  test("a folder of the host is refused with 403, in prepare and in a deployment", async () => {
    const { app, prepare } = await scene({ mode: "cloud" });
    const refused = await prepare({ source: "local", path: "/srv/shop" });
    expect([refused.status, refused.body.code]).toEqual([403, "local_source_forbidden"]);
    const settings = { name: "Shop", settings: {} };
    const project = await app.useCases.createProject(await owner(app), settings);
    await app.world.projects.change(project.organizationId, project.id, {
      at: app.world.clock.now(),
      change: () => ({ settings: { localPath: "/srv/shop" } }),
    });
    const deploy = await app.call("POST", "/api/deployments", { token: app.owner, body: { projectId: project.id } });
    expect([deploy.status, deploy.body.code]).toEqual([403, "local_source_forbidden"]);
  });

  test.each([
    { source: "local" },
    { source: "local", path: 5 },
    { source: "local", path: "" },
    { source: "local", path: "relative", banana: 1 },
    { source: "local", owner: ["acme"], repo: null, branch: "-" },
  ])("%j is refused with 403 before the rest of it is validated", async (body) => {
    const { app, prepare } = await scene({ mode: "cloud" });
    const refused = await prepare(body);
    expect([refused.status, refused.body.code]).toEqual([403, "local_source_forbidden"]);
    const { token } = await member(app, "viewer");
    const viewer = await app.call("POST", "/api/deployments/prepare", { token, body });
    expect([viewer.status, viewer.body.code]).toEqual([403, "forbidden"]);
    expect((await app.call("POST", "/api/deployments/prepare", { body })).status).toBe(401);
  });

  test("a body without a source, or with another one, is validated by its schema", async () => {
    const { prepare } = await scene({ mode: "cloud" });
    for (const body of [{}, { source: "Local" }, { source: ["local"] }, { source: "githost", path: 5 }]) {
      expect((await prepare(body)).status).toBe(400);
    }
  });

  test("a repository is prepared, by owner and name or by address", async () => {
    const { prepare } = await scene({ mode: "cloud" });
    expect((await prepare({ source: "githost", owner: "acme", repo: "shop" })).status).toBe(200);
    expect((await prepare({ gitUrl: ADDRESS })).status).toBe(200);
  });
});

function owner({ useCases, owner: value }: Awaited<ReturnType<typeof memoryApp>>) {
  return useCases.identifyCaller({ kind: "token", value, organizationId: null, actingMember: null });
}

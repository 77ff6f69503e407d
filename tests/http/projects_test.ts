import { beforeAll, describe, expect, test } from "bun:test";
import { type Call, memoryApp, type TestApp } from "../support/apps/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await memoryApp();
});

const asOwner = (method: string, path: string, body?: unknown, call: Call = {}) =>
  app.call(method, path, { token: app.owner, body, ...call });

let made = 0;

async function project(settings: object = {}) {
  const answer = await asOwner("POST", "/api/projects", { name: `Project ${made++}`, ...settings });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

const FULL = {
  gitOwner: "acme",
  gitRepo: "harbour",
  gitBranch: "release/1.x",
  framework: "next",
  packageManager: "pnpm",
  installCommand: "pnpm install",
  buildCommand: "pnpm build",
  startCommand: "pnpm start",
  outputDirectory: "dist",
  rootDirectory: "apps/web",
  port: 3000,
  projectType: "services",
  services: [
    { name: "web", image: "nginx:1", ports: ["80", 443], environment: { A: "b" }, dependsOn: ["db"] },
    { name: "db", image: "postgres:18" },
  ],
  publicEndpoints: [{ port: "80", targetPath: "/", domain: "web", domainType: "free", service: "web" }],
  rollbackWindow: 3,
  healthPath: "/up",
  requireApproval: true,
  runtime: "docker",
};

describe("POST /api/projects", () => {
  test("stores every field and shows the others as null", async () => {
    const full = await project(FULL);
    expect(full).toMatchObject({ ...FULL, gitUrl: null, localPath: null, source: "githost", autoDeploy: false });
    expect(full).toMatchObject({ location: "local", serverId: null, activeDeploymentId: null });
    expect((await asOwner("GET", `/api/projects/${full.id}`)).body.data).toEqual(full);
    expect(await project()).toMatchObject({
      source: "upload",
      gitOwner: null,
      services: null,
      port: null,
      runtime: null,
    });
  });

  test.each([
    ["  Café  Größe!  ", "cafe-gro-e"],
    ["日本語", "project"],
    ["--A--B--", "a-b"],
    ["x".repeat(100), "x".repeat(40)],
  ])("turns the name %p into the slug %s", async (name, slug) => {
    const { call, owner } = await memoryApp();
    const { data } = (await call("POST", "/api/projects", { token: owner, body: { name } })).body;
    expect(data).toMatchObject({ name: name.trim(), slug, hostname: `${slug}.localhost` });
  });

  test.each([
    { name: "" },
    { name: " \t\n" },
    { name: "x".repeat(101) },
    { name: "X", slug: "Upper" },
    { name: "X", slug: "-x" },
    { name: "X", slug: "a.b" },
    { name: "X", slug: "x".repeat(41) },
    { name: "X", rollbackWindow: -1 },
    { name: "X", rollbackWindow: 101 },
    { name: "X", port: 65_536 },
    { name: "X", services: [{ name: "a b" }] },
    { name: "X", services: [{}] },
    { name: "X", services: Array.from({ length: 101 }, () => ({ name: "w" })) },
    { name: "X", services: [{ name: "web" }, { name: "db" }, { name: "web" }] },
    { name: "X", services: [{ name: "w", environment: { "A\nB": "x" } }] },
    { name: "X", services: [{ name: "w", environment: { "A\nB": { any: "thing" } } }] },
    { name: "X", services: [{ name: "w", environment: { "A=B": "x" } }] },
    { name: "X", services: [{ name: "w", environment: { "": "x" } }] },
    { name: "X", services: [{ name: "w", environment: { ["A".repeat(256)]: "x" } }] },
    { name: "X", services: [{ name: "w", build: { args: { "A B": "x" } } }] },
    { name: "X", services: [{ name: "w", dependsOn: { "-x": { condition: "service_started" } } }] },
    { name: "X", services: [{ name: "w", dependsOn: { "a\nb": 5 } }] },
    { name: "X", publicEndpoints: [{ port: "0" }] },
    { name: "X", publicEndpoints: [{ port: "65536" }] },
    { name: "X", publicEndpoints: [{ port: "eighty" }] },
    { name: "X", publicEndpoints: [{ targetPath: "no-slash" }] },
  ])("refuses %j", async (body) => {
    expect((await asOwner("POST", "/api/projects", body)).status).toBe(400);
  });

  test("a taken slug answers 409, and a taken address gets a random suffix", async () => {
    const { slug } = await project({ slug: "quay" });
    expect((await asOwner("POST", "/api/projects", { name: "Again", slug })).body.code).toBe("slug_taken");
    const two = (await asOwner("POST", "/api/projects", { name: "Quay two", slug: "quay-two" })).body.data;
    const claimed = await asOwner("POST", "/api/domains", { projectId: two.id, hostname: "pier.localhost" });
    expect(claimed.body.data.hostname).toBe("pier.localhost");
    const pier = (await asOwner("POST", "/api/projects", { name: "Pier" })).body.data;
    expect(pier.slug).toBe("pier");
    expect(pier.hostname).toMatch(/^pier-[a-z0-9]{6}\.localhost$/);
  });

  test("never gives the API's own host to a project", async () => {
    const { call, owner } = await memoryApp({ publicUrl: "https://deploy.example.com", baseDomain: "example.com" });
    const { data } = (await call("POST", "/api/projects", { token: owner, body: { name: "Deploy" } })).body;
    expect(data.slug).toBe("deploy");
    expect(data.hostname).toMatch(/^deploy-[a-z0-9]{6}\.example\.com$/);
  });
});

describe("values that are passed to git", () => {
  test.each([
    { gitOwner: "-x", gitRepo: "y" },
    { gitOwner: "a/b", gitRepo: "y" },
    { gitOwner: "a", gitRepo: ".." },
    { gitOwner: "a", gitRepo: "y;id" },
    { gitOwner: "a", gitRepo: "$(id)" },
    { gitOwner: "a" },
    { gitRepo: "y" },
    { gitBranch: "--upload-pack=touch /tmp/x" },
    { gitBranch: "-b" },
    { gitBranch: "a..b" },
    { gitBranch: "a b" },
    { gitBranch: "a\nb" },
    { gitBranch: "a:b" },
    { gitBranch: "refs/heads/*" },
    { gitBranch: "x.lock" },
    { gitBranch: "@{-1}" },
    { gitUrl: "ext::sh -c id" },
    { gitUrl: "file:///etc/passwd" },
    { gitUrl: "/etc/passwd" },
    { gitUrl: "http://git.example.com/x.git" },
    { gitUrl: "git://git.example.com/x.git" },
    { gitUrl: "https://user:secret@git.example.com/x.git" },
    { gitUrl: "ssh://-oProxyCommand=id/x" },
    { gitUrl: "-oProxyCommand=id@host:x" },
    { gitUrl: "https://" },
    { rootDirectory: "../other" },
    { rootDirectory: "/etc" },
    { outputDirectory: "a/../../b" },
    { outputDirectory: "--exec" },
    { healthPath: "health" },
    { healthPath: "//evil.example" },
    { healthPath: "/a b" },
  ])("%j is refused, on every route", async (settings) => {
    const { id } = await project();
    for (const [method, path, body] of [
      ["POST", "/api/projects", { name: "X", ...settings }],
      ["PATCH", `/api/projects/${id}`, settings],
      ["POST", "/api/projects/ensure", { name: "X", projectId: id, ...settings }],
    ] as const) {
      expect([method, path, (await asOwner(method, path, body)).status]).toEqual([method, path, 400]);
    }
  });

  test.each([
    { gitUrl: "https://git.example.com:8443/acme/harbour.git" },
    { gitUrl: "ssh://git@git.example.com:2222/acme/harbour.git" },
    { gitUrl: "git@git.example.com:acme/harbour.git" },
    { gitBranch: "feature/ünïcode-✓" },
    { gitOwner: "acme_1", gitRepo: ".github".slice(1) },
    { rootDirectory: "." },
    { healthPath: "/" },
  ])("%j is accepted", async (settings) => {
    expect(await project(settings)).toMatchObject(settings);
  });
});

describe("PATCH /api/projects/:id", () => {
  test("changes given fields, clears null ones, and keeps the rest", async () => {
    const { id, updatedAt } = await project(FULL);
    app.world.clock.advance(1_000);
    const cleared = Object.fromEntries(Object.keys(FULL).map((key) => [key, null]));
    const changed = (await asOwner("PATCH", `/api/projects/${id}`, { ...cleared, port: 8080, name: "New name" })).body
      .data;
    expect(changed).toMatchObject({ ...cleared, port: 8080, name: "New name", source: "upload" });
    expect(changed.updatedAt).not.toBe(updatedAt);
    expect((await asOwner("PATCH", `/api/projects/${id}`, {})).body.data).toMatchObject({
      port: 8080,
      name: "New name",
    });
  });

  test("validates the resulting project as a whole", async () => {
    const { id } = await project({ gitOwner: "acme", gitRepo: "harbour" });
    expect((await asOwner("PATCH", `/api/projects/${id}`, { gitRepo: null })).status).toBe(400);
    expect((await asOwner("PATCH", `/api/projects/${id}`, { gitOwner: null, gitRepo: null })).status).toBe(200);
  });

  test("keeps the address when the slug changes, and refuses a slug that is taken", async () => {
    const [first, second] = [await project(), await project()];
    const moved = await asOwner("PATCH", `/api/projects/${first.id}`, { slug: "renamed-slug" });
    expect(moved.body.data).toMatchObject({ slug: "renamed-slug", hostname: first.hostname });
    expect((await asOwner("PATCH", `/api/projects/${second.id}`, { slug: "renamed-slug" })).status).toBe(409);
  });
});

describe("POST /api/projects/ensure", () => {
  test("creates by slug once, and updates with what is given after that", async () => {
    const first = (await asOwner("POST", "/api/projects/ensure", { name: "Dock", port: 80, framework: "next" })).body;
    expect(first).toEqual({ success: true, project_id: expect.stringMatching(/^prj_/), created: true });
    const again = (await asOwner("POST", "/api/projects/ensure", { name: "DOCK", framework: null, port: 81 })).body;
    expect(again).toEqual({ ...first, created: false });
    const { data } = (await asOwner("GET", `/api/projects/${first.project_id}`)).body;
    expect(data).toMatchObject({ name: "DOCK", slug: "dock", port: 81, framework: null });
  });

  test("uses projectId before slug; an unknown or foreign one is 404 and creates nothing", async () => {
    const { id } = await project({ slug: "by-id" });
    const body = { name: "Renamed", slug: "by-id-two", projectId: id };
    expect((await asOwner("POST", "/api/projects/ensure", body)).body).toMatchObject({
      project_id: id,
      created: false,
    });
    for (const projectId of ["prj_00000000000000000000000000", "nonsense", "'; DROP TABLE projects; --"]) {
      const answer = await asOwner("POST", "/api/projects/ensure", { name: "Nowhere", projectId });
      expect([answer.status, answer.body.code]).toEqual([404, "project_not_found"]);
    }
    expect((await asOwner("GET", "/api/projects?search=Nowhere")).body.total).toBe(0);
  });

  test("creates one project for ten concurrent requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        asOwner("POST", "/api/projects/ensure", { name: "Race", port: 3000 + index }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.project_id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
    expect((await asOwner("GET", "/api/projects?search=race")).body.total).toBe(1);
  });
});

describe("linking", () => {
  test("POST /api/projects/:id/git/link replaces any other source", async () => {
    const { id } = await project({ gitUrl: "https://git.example.com/x.git", gitBranch: "old" });
    const answer = await asOwner("POST", `/api/projects/${id}/git/link`, { owner: "acme", repo: "harbour" });
    expect(answer.body).toMatchObject({
      success: true,
      project: { source: "githost", gitOwner: "acme", gitRepo: "harbour", gitBranch: null, gitUrl: null },
    });
    const hostile = { owner: "acme", repo: "harbour", branch: "--upload-pack=x" };
    expect((await asOwner("POST", `/api/projects/${id}/git/link`, hostile)).status).toBe(400);
  });

  test("POST /api/projects/:id/auto-deploy cannot be enabled while no pushes are received", async () => {
    const { id } = await project();
    const enable = (enabled: unknown) => asOwner("POST", `/api/projects/${id}/auto-deploy`, { enabled });
    await asOwner("POST", `/api/projects/${id}/git/link`, { owner: "acme", repo: "harbour" });
    const { status, body } = await enable(true);
    expect([status, body.code, body.error]).toEqual([
      400,
      "auto_deploy_unavailable",
      "Cannot deploy on every push: the git host is not connected, so it reports none. Connect it with " +
        "POST /api/githost/connect, or deploy with POST /api/deployments after a push",
    ]);
    expect((await asOwner("GET", `/api/projects/${id}`)).body.data.autoDeploy).toBe(false);
    expect((await enable(false)).body).toMatchObject({ success: true, project: { id, autoDeploy: false } });
    expect((await enable("yes")).status).toBe(400);
  });
});

test("DELETE /api/projects/:id removes variables and addresses too, and frees slug and address", async () => {
  const { id } = await project({ slug: "gone" });
  await asOwner("PATCH", `/api/projects/${id}/env`, { upserts: [{ key: "A", value: "b" }] });
  expect((await asOwner("DELETE", `/api/projects/${id}`)).body).toEqual({ success: true });
  expect((await asOwner("GET", `/api/projects/${id}`)).status).toBe(404);
  expect((await asOwner("DELETE", `/api/projects/${id}`)).status).toBe(404);
  expect((await asOwner("GET", `/api/domains?projectId=${id}`)).body.total).toBe(0);
  expect((await project({ slug: "gone" })).hostname).toBe("gone.localhost");
});

import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import type { AppSettings } from "../../wiring/build_application.ts";
import { browser, type Call, member, memoryApp, ownerSession } from "../support/apps/app.ts";

const DB = { name: "db", image: "postgres:18", ports: [5432], volumes: ["data:/var/lib/postgresql"] };
const folders = new MemoryHostFolders(["/srv/shop/files", "/opt/apps/one", "/etc/x", "/data/slipway/releases"], {
  "/srv/shop/escape": "/etc",
  "/srv/alias": "/srv/shop",
});

/** A database that mounts a path of the host. */
function mounting(path: string) {
  return { services: [{ ...DB, volumes: [`${path}:/x`] }] };
}

async function scene(settings: Partial<AppSettings> = {}) {
  const app = await memoryApp(settings, () => ({ hostFolders: folders }));
  const as = { token: app.owner };
  async function project(body: object = {}, by: Call = as): Promise<string> {
    const name = `Shop ${crypto.randomUUID().slice(0, 8)}`;
    const answer = await app.call("POST", "/api/projects", { ...by, body: { name, ...body } });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data.id;
  }
  function access(projectId: string, request: object, by: Call = as) {
    return app.call("POST", "/api/deployments/build/access", { ...by, body: { projectId, start: false, ...request } });
  }
  /** The stored deployment of an accepted request. */
  async function stored(projectId: string, request: object) {
    const answer = await access(projectId, request);
    if (answer.status !== 200) throw new Error(answer.text);
    return (await app.world.deployments.get(answer.body.deployment_id))!;
  }
  async function names(projectId: string, by: Call = as): Promise<string[]> {
    const { data } = (await app.call("GET", `/api/domains?projectId=${projectId}`, by)).body;
    return data.map(({ hostname }: { hostname: string }) => hostname);
  }
  return { app, as, project, access, stored, names };
}

describe("given services", () => {
  test("that are all images need no source", async () => {
    const { project, stored } = await scene();
    const made = await stored(await project(), { services: [DB] });
    expect([made.source, made.trigger, made.plan.projectType]).toEqual([{ kind: "none" }, "manual", "services"]);
  });

  test("use the linked source of the project when one is built from it", async () => {
    const { project, stored } = await scene();
    const linked = await project({ gitUrl: "https://git.example.com/shop.git" });
    expect((await stored(linked, { services: [DB, { name: "web", build: "." }] })).source.kind).toBe("git");
    expect((await stored(linked, { services: [DB] })).source.kind).toBe("none");
  });

  test("that are built need a source", async () => {
    const { project, access } = await scene();
    const refused = await access(await project(), { services: [DB, { name: "web", build: "." }] });
    expect([refused.status, refused.body.code]).toEqual([400, "no_source"]);
  });

  test("are those of the project's settings when none are given, unless another project type is set", async () => {
    const { project, stored, access } = await scene();
    for (const projectType of [undefined, "services"]) {
      const made = await stored(await project({ services: [DB], projectType }), { services: [] });
      expect([made.source.kind, made.plan.projectType]).toEqual(["none", "services"]);
    }
    const app = await project({ services: [DB], projectType: "app" });
    expect((await access(app, {})).body.code).toBe("no_source");
    const other = await project({ services: [{ name: "web" }] });
    expect((await stored(other, { services: [DB] })).source.kind).toBe("none");
  });

  test("are deployed by POST /api/deployments too", async () => {
    const { app, as, project } = await scene();
    const body = { projectId: await project({ services: [DB] }), start: false };
    const answer = await app.call("POST", "/api/deployments", { ...as, body });
    expect([answer.status, answer.body.data.deployment.trigger]).toEqual([202, "manual"]);
  });

  test("resolve referenced variables from the project, and name a missing one", async () => {
    const { app, as, project, access } = await scene();
    const id = await project();
    const services = [{ ...DB, environment: ["POSTGRES_PASSWORD"] }];
    const missing = await access(id, { services });
    expect([missing.status, missing.body.details[0].path]).toEqual([400, "services.0.environment.0"]);
    const upserts = [{ key: "POSTGRES_PASSWORD", value: "letmein", secret: true }];
    await app.call("PATCH", `/api/projects/${id}/env`, { ...as, body: { upserts } });
    expect((await access(id, { services })).status).toBe(200);
    const preview = await access(id, { services, environment: "preview" });
    expect([preview.status, preview.body.details[0]]).toEqual([
      400,
      {
        path: "services.0.environment.0",
        message:
          'previews of the project have no variable of this name; set it for previews, or write it as "NAME=value"',
      },
    ]);
    await app.call("PATCH", `/api/projects/${id}/env?environment=preview`, { ...as, body: { upserts } });
    expect((await access(id, { services, environment: "preview" })).status).toBe(200);
  });

  test("use nothing up when they are refused", async () => {
    const { app, as, project, access, names } = await scene();
    const id = await project();
    const request = { services: [{ name: "web", ports: ["x"] }], publicEndpoints: [{ domain: "lost" }] };
    expect((await access(id, request)).status).toBe(400);
    expect(await names(id)).not.toContain("lost.localhost");
    expect((await app.call("GET", `/api/deployments?projectId=${id}`, as)).body.data).toEqual([]);
  });
});

describe("public endpoints", () => {
  const web = { name: "web", image: "nginx:1", ports: [80] };
  const api = { name: "api", image: "acme/api", ports: [80, 81] };

  test("claim free names for the project once", async () => {
    const { project, stored, names } = await scene();
    const id = await project();
    const publicEndpoints = [
      { service: "web", domain: "front" },
      { service: "api", domain: "back", targetPath: "/v1" },
      { service: "web", domain: "back" },
    ];
    for (const _ of [1, 2]) {
      const made = await stored(id, { services: [web, api], publicEndpoints });
      expect(made.plan.publicEndpoints).toEqual(publicEndpoints);
    }
    expect((await names(id)).filter((name) => !name.startsWith("shop-")).toSorted()).toEqual([
      "back.localhost",
      "front.localhost",
    ]);
  });

  test("claim the names of a project with a single service, and of its settings", async () => {
    const { project, stored, names } = await scene();
    const id = await project({ gitUrl: "https://git.example.com/shop.git", publicEndpoints: [{ domain: "kept" }] });
    await stored(id, {});
    await stored(id, { publicEndpoints: [{ domain: "given" }] });
    expect(await names(id)).toEqual(expect.arrayContaining(["kept.localhost", "given.localhost"]));
  });

  test("claim nothing for a preview", async () => {
    const { project, stored, names } = await scene();
    const id = await project();
    await stored(id, { services: [web], environment: "preview", publicEndpoints: [{ domain: "later" }] });
    expect(await names(id)).not.toContain("later.localhost");
  });

  test("refuse a name of another project, and name that project to those who may see it", async () => {
    const { app, project, access, names } = await scene();
    const [mine, other] = [await project({ name: "Mine" }), await project({ name: "Harbour", slug: "harbour" })];
    const request = { services: [web], publicEndpoints: [{ domain: "fresh" }, { domain: "harbour" }] };
    const refused = await access(mine, request);
    expect([refused.status, refused.body.code]).toEqual([409, "hostname_taken"]);
    expect(refused.body.error).toContain('your project "Harbour"');
    expect(await names(mine)).not.toContain("fresh.localhost");
    expect((await access(other, request)).status).toBe(200);
    const grants = [{ resource: "project", id: mine, action: "write" }];
    const { token } = await member(app, "restricted", { grants });
    const hidden = await access(mine, request, { token });
    expect([hidden.status, hidden.body.code]).toEqual([409, "hostname_taken"]);
    expect(hidden.body.error).not.toContain("Harbour");
  });

  test("refuse a name of another organization without details, and the API's own", async () => {
    const { app, as, project, access } = await scene({ publicUrl: "http://slipway.localhost" });
    const second = await app.call("POST", "/api/organizations", { ...as, body: { name: "Second" } });
    const there = browser(await ownerSession(app), {
      "x-organization-id": second.body.data.id,
      origin: "http://slipway.localhost",
    });
    await project({ name: "Secret", slug: "harbour" }, there);
    const id = await project();
    for (const domain of ["harbour", "slipway"]) {
      const refused = await access(id, { services: [web], publicEndpoints: [{ domain }] });
      expect([refused.status, refused.body.code]).toEqual([409, "hostname_taken"]);
      expect(refused.body.error).not.toContain("Secret");
    }
  });

  test("claim free names for callers that may deploy the project, and no others", async () => {
    const { app, project, access } = await scene();
    const id = await project({ services: [web] });
    const request = { publicEndpoints: [{ domain: "fresh" }] };
    const holding = async (action: string) =>
      (await member(app, "restricted", { grants: [{ resource: "deployment", id: "*", action }] })).token;
    const refused = await access(id, request, { token: await holding("read") });
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"deployment:write"')]);
    expect((await access(id, request, { token: await holding("write") })).status).toBe(200);
  });

  test("accept a custom name only when it is verified", async () => {
    const { app, as, project, access } = await scene();
    const id = await project();
    const request = { services: [web], publicEndpoints: [{ customDomain: "www.example.com" }] };
    const unknown = await access(id, request);
    expect([unknown.status, unknown.body.code, unknown.body.details[0].path]).toEqual([
      400,
      "domain_unverified",
      "publicEndpoints.0.customDomain",
    ]);
    const claimed = await app.call("POST", "/api/domains", {
      ...as,
      body: { projectId: id, hostname: "www.example.com" },
    });
    const unproven = await access(id, request);
    expect(unproven.body.error).toContain(`/api/domains/${claimed.body.data.id}/verify`);
    const { name, value } = claimed.body.data.verification;
    app.world.nameRecords.set(name, { texts: [value] });
    await app.call("POST", `/api/domains/${claimed.body.data.id}/verify`, as);
    expect((await access(id, request)).status).toBe(200);
    expect((await access(await project(), request)).body.code).toBe("domain_unverified");
  });

  test("require the service when several listen on the port", async () => {
    const { project, access } = await scene();
    const id = await project();
    const refused = await access(id, { services: [web, api], publicEndpoints: [{ port: "80" }] });
    expect([refused.status, refused.body.code]).toEqual([400, "endpoint_ambiguous"]);
    expect(refused.body.error).toContain('"web", "api"');
    expect((await access(id, { services: [web, api], publicEndpoints: [{ port: "81" }] })).status).toBe(200);
  });

  test("refuse the same route under a free and under a custom name", async () => {
    const { project, access } = await scene();
    const id = await project({ slug: "twice" });
    const publicEndpoints = [{ domain: "twice" }, { customDomain: "twice.localhost", service: "api" }];
    const refused = await access(id, { services: [web, api], publicEndpoints });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, "publicEndpoints.1"]);
  });
});

describe("hostPaths", () => {
  test("are set and changed by an admin alone", async () => {
    const { app, project } = await scene();
    const developer = { token: (await member(app, "developer")).token };
    const admin = { token: (await member(app, "admin")).token };
    const hostPaths = ["/srv/shop", "old_volume"];
    const patch = (id: string, body: object, by: Call) => app.call("PATCH", `/api/projects/${id}`, { ...by, body });
    const refused = await app.call("POST", "/api/projects", { ...developer, body: { name: "X", hostPaths } });
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"project:admin"')]);
    const id = await project({ hostPaths }, admin);
    expect((await patch(id, { hostPaths: ["/"] }, developer)).status).toBe(403);
    expect((await patch(id, { hostPaths: null }, developer)).status).toBe(403);
    expect((await patch(id, { hostPaths: hostPaths.toReversed() }, developer)).status).toBe(403);
    expect((await patch(id, { hostPaths, name: "Renamed" }, developer)).body.data).toMatchObject({ hostPaths });
    expect((await patch(id, { hostPaths: ["/srv"] }, admin)).body.data.hostPaths).toEqual(["/srv"]);
    expect((await patch(id, { hostPaths: null }, admin)).body.data.hostPaths).toBeNull();
    const slug = `ensured-${crypto.randomUUID().slice(0, 8)}`;
    const ensure = (by: Call) =>
      app.call("POST", "/api/projects/ensure", { ...by, body: { name: slug, slug, hostPaths } });
    expect([(await ensure(developer)).status, (await ensure(admin)).status, (await ensure(developer)).status]).toEqual([
      403, 200, 200,
    ]);
  });

  test.each([["relative/path"], ["/srv/../etc"], ["-x"], ["a b"], ["."]])("refuse %j", async (path) => {
    const { app, as } = await scene();
    const answer = await app.call("POST", "/api/projects", { ...as, body: { name: "X", hostPaths: ["/ok", path] } });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "hostPaths.1"]);
  });

  test("are refused in cloud mode", async () => {
    const { app, as, project, access } = await scene({ mode: "cloud", localSourceRoots: ["/opt/apps"] });
    const answer = await app.call("POST", "/api/projects", { ...as, body: { name: "X", hostPaths: ["/srv"] } });
    expect([answer.status, answer.body.code]).toEqual([403, "host_access_forbidden"]);
    expect((await access(await project({ hostPaths: [] }), mounting("/opt/apps/one"))).status).toBe(403);
  });

  test("and LOCAL_SOURCE_ROOTS allow services to use paths of the machine, and nothing else does", async () => {
    const { project, access } = await scene({ localSourceRoots: ["/opt/apps"] });
    const id = await project({ hostPaths: ["/srv/shop"] });
    for (const path of ["/srv/shop", "/srv/shop/files", "/srv/shop/not-there"])
      expect([path, (await access(id, mounting(path))).status]).toEqual([path, 200]);
    const { services } = mounting("/opt/apps/one");
    const reading = services.map((service) => ({ ...service, volumes: ["/opt/apps/one:/x:ro"] }));
    expect((await access(id, { services: reading })).status).toBe(200);
    expect((await access(id, { services })).body.error).toContain("Mount it with :ro");
    for (const path of [
      "/srv",
      "/srv/shop/../../etc",
      "/etc/x",
      "/data/slipway/releases",
      "/var/run/docker.sock",
      "/",
    ]) {
      const refused = await access(id, mounting(path));
      expect([path, refused.status, refused.body.code]).toEqual([path, 403, "host_access_forbidden"]);
    }
    const refused = await access(id, mounting("/etc/x"));
    expect(refused.body.error).toBe(
      'Cannot give "db" the path "/etc/x" of the machine: an admin can allow it by adding it to hostPaths of the project',
    );
  });

  test("are checked with links resolved", async () => {
    const { project, access } = await scene();
    const id = await project({ hostPaths: ["/srv/shop"] });
    expect((await access(id, mounting("/srv/shop/escape/x"))).status).toBe(403);
    const alias = await project({ hostPaths: ["/srv/alias"] });
    expect((await access(alias, mounting("/srv/alias/files"))).status).toBe(200);
  });
});

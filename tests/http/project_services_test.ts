import { describe, expect, test } from "bun:test";
import { MemoryHostFolders } from "../../adapters/memory/host_folders.ts";
import { type Answer, type Call, member, memoryApp } from "../support/apps/app.ts";

const DB = { name: "db", image: "postgres:18" };

/** Services that could never be deployed, and the field of the error. */
const REFUSED: readonly [string, readonly object[]][] = [
  ["services.0.image", [{ name: "db", image: "Not An Image" }]],
  ["services.0.restart", [{ ...DB, restart: "sometimes" }]],
  ["services.1.ports.0", [DB, { ...DB, name: "b", ports: ["80:http"] }]],
  ["services.0.volumes.1", [{ ...DB, volumes: ["data:/data", "nowhere"] }]],
  ["services.0.volumes.1", [{ ...DB, volumes: ["one:/data", "two:/data"] }]],
  ["services.0.dependsOn.0", [{ ...DB, dependsOn: ["cache"] }]],
  [
    "services.0.dependsOn",
    [
      { ...DB, dependsOn: ["b"] },
      { ...DB, name: "b", dependsOn: ["db"] },
    ],
  ],
  ["services.0.environment.0", [{ ...DB, environment: ["A B"] }]],
  ["services.0.healthcheck.interval", [{ ...DB, healthcheck: { test: "true", interval: "soon" } }]],
  ["services.0.resources.memoryBytes", [{ ...DB, resources: { memoryBytes: 1 } }]],
  ["services.0.command", [{ ...DB, command: 'echo "' }]],
  ["services.0.startCommand", [{ ...DB, startCommand: "run" }]],
  ["services.0.build", [{ name: "web", build: "../.." }]],
  ["services.1.name", [DB, DB]],
  // A service must not write to a folder that contains files of another one.
  [
    "services.1.volumes.0",
    [
      { ...DB, volumes: ["./files/inner:/x:ro"] },
      { ...DB, name: "b", volumes: ["./files:/y"] },
    ],
  ],
];

async function scene() {
  const hostFolders = new MemoryHostFolders(["/srv/shop/files", "/etc"], { "/srv/shop/escape": "/etc" });
  const app = await memoryApp({}, () => ({ hostFolders }));
  const as = { token: app.owner };
  const made = await app.call("POST", "/api/projects", { ...as, body: { name: "Shop", services: [DB] } });
  const id: string = made.body.data.id;
  /** Sets services through each route that accepts them. */
  const ways: Readonly<Record<string, (body: object, by?: Call) => Promise<Answer>>> = {
    "POST /api/projects": (body, by = as) =>
      app.call("POST", "/api/projects", { ...by, body: { name: crypto.randomUUID(), ...body } }),
    "PATCH /api/projects/:id": (body, by = as) => app.call("PATCH", `/api/projects/${id}`, { ...by, body }),
    "POST /api/projects/ensure": (body, by = as) =>
      app.call("POST", "/api/projects/ensure", { ...by, body: { name: "Shop", ...body } }),
    "POST /api/projects/ensure of a new one": (body, by = as) =>
      app.call("POST", "/api/projects/ensure", { ...by, body: { name: crypto.randomUUID(), ...body } }),
  };
  const services = async () => (await app.call("GET", `/api/projects/${id}`, as)).body.data.services;
  const deploy = () => app.call("POST", "/api/deployments", { ...as, body: { projectId: id, start: false } });
  const count = async () => (await app.call("GET", "/api/projects", as)).body.total;
  return { app, as, id, ways, services, deploy, count };
}

describe("services in a project's settings", () => {
  test.each(REFUSED)("are refused if %s could not be deployed", async (path, services) => {
    const { ways, services: kept, count } = await scene();
    for (const [way, set] of Object.entries(ways)) {
      const { status, body } = await set({ services });
      expect([way, status, body.details?.map((detail: { path: string }) => detail.path)]).toEqual([way, 400, [path]]);
    }
    expect([await kept(), await count()]).toEqual([[DB], 1]);
  });

  test("may refer to variables that the project does not have yet; a deployment names the missing one", async () => {
    const { app, as, id, ways, deploy } = await scene();
    const services = [{ ...DB, environment: ["POSTGRES_PASSWORD", "MODE=fast"] }];
    for (const set of Object.values(ways)) expect((await set({ services })).status).toBeLessThan(300);
    const refused = await deploy();
    expect([refused.status, refused.body.details[0].path]).toEqual([400, "services.0.environment.0"]);
    const body = { upserts: [{ key: "POSTGRES_PASSWORD", value: "x", secret: true }] };
    await app.call("PATCH", `/api/projects/${id}/env`, { ...as, body });
    expect((await deploy()).status).toBe(202);
  });

  test("may use paths of the machine as far as the project's resulting settings allow", async () => {
    const { app, ways } = await scene();
    const services = [DB, { ...DB, name: "files", volumes: ["data:/data", "/srv/shop/files:/files"] }];
    const { token } = await member(app, "developer");
    for (const [way, set] of Object.entries(ways)) {
      const refused = await set({ services });
      expect([way, refused.status, refused.body.code, refused.body.details?.[0].path]).toEqual([
        way,
        403,
        "host_access_forbidden",
        "services.1.volumes.1",
      ]);
      // Callers who may not allow it do not learn whether that would suffice.
      const hostPaths = ["/srv/shop"];
      expect((await set({ services, hostPaths }, { token })).status).toBe(403);
      const linked = [{ ...DB, volumes: ["/srv/shop/escape:/x"] }];
      expect((await set({ services: linked, hostPaths })).body.details?.[0].path).toBe("services.0.volumes.0");
      expect((await set({ services, hostPaths })).status).toBeLessThan(300);
      if (way.includes(":id")) expect((await set({ hostPaths: null, services: [DB] })).status).toBe(200);
      if (way.endsWith("ensure")) expect((await set({ hostPaths: [], services: [DB] })).status).toBe(200);
    }
  });

  test("that were allowed when they were set are refused at the deployment when they no longer are", async () => {
    const { ways, deploy } = await scene();
    const patch = ways["PATCH /api/projects/:id"]!;
    const services = [{ ...DB, volumes: ["/srv/shop/files:/files"] }];
    expect((await patch({ services, hostPaths: ["/srv/shop"] })).status).toBe(200);
    expect((await deploy()).status).toBe(202);
    expect((await patch({ hostPaths: null })).status).toBe(200);
    const refused = await deploy();
    expect([refused.status, refused.body.code]).toEqual([403, "host_access_forbidden"]);
    expect(refused.body.error).toContain("an admin can allow it by adding it to hostPaths of the project");
  });
});

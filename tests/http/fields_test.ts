import { beforeAll, describe, expect, test } from "bun:test";
import { type Call, memoryApp, type TestApp } from "../support/apps/app.ts";

let app: TestApp;
let projectId: string;

beforeAll(async () => {
  app = await memoryApp();
  projectId = (await asOwner("POST", "/api/projects", { body: { name: "Harbour" } })).body.data.id;
});

const errorOf = async (path: string, body: object) => (await asOwner("POST", path, { body })).body.error;

const asOwner = (method: string, path: string, call: Call = {}) =>
  app.call(method, path, { token: app.owner, ...call });

describe("fields", () => {
  test.each([
    ["POST", "/api/projects", { name: "X", color: "red" }, "color"],
    ["POST", "/api/projects", { name: "X", constructor: 1 }, "constructor"],
    ["POST", "/api/projects", { name: "X", toString: 1 }, "toString"],
    ["POST", "/api/projects", { name: "X", "a/b~c": 1 }, "a/b~c"],
    ["POST", "/api/projects", { name: "X", autoDeploy: true }, "autoDeploy"],
    ["POST", "/api/projects", { name: "X", services: [{ name: "w", color: 1 }] }, "services.0.color"],
    ["POST", "/api/projects", { name: "X", services: [{ name: "w", build: { color: 1 } }] }, "services.0.build.color"],
    [
      "POST",
      "/api/projects",
      { name: "X", services: [{ name: "w" }, { name: "v", healthcheck: { color: 1 } }] },
      "services.1.healthcheck.color",
    ],
    [
      "POST",
      "/api/projects",
      { name: "X", services: [{ name: "w", resources: { color: 1 } }] },
      "services.0.resources.color",
    ],
    [
      "POST",
      "/api/projects",
      { name: "X", services: [{ name: "w", dependsOn: { a: { condition: "service_started", color: 1 } } }] },
      "services.0.dependsOn.a.color",
    ],
    ["POST", "/api/projects", { name: "X", publicEndpoints: [{ color: 1 }] }, "publicEndpoints.0.color"],
    ["PATCH", "/api/projects/:id", { color: 1 }, "color"],
    ["PATCH", "/api/projects/:id", { services: [{ name: "w", color: 1 }] }, "services.0.color"],
    ["PATCH", "/api/projects/:id", { services: [{ name: "w", build: { color: 1 } }] }, "services.0.build.color"],
    ["PATCH", "/api/projects/:id", { publicEndpoints: [{}, { color: 1 }] }, "publicEndpoints.1.color"],
    ["POST", "/api/projects/ensure", { name: "X", services: [{ name: "w", color: 1 }] }, "services.0.color"],
    ["PATCH", "/api/projects/:id/env", { upserts: [{ key: "A", value: "b", color: 1 }] }, "upserts.0.color"],
    ["PATCH", "/api/projects/:id/env", { inserts: [] }, "inserts"],
    ["POST", "/api/projects/:id/git/link", { owner: "a", repo: "b", color: 1 }, "color"],
    [
      "POST",
      "/api/tokens",
      { name: "t", grants: [{ resource: "project", id: "*", action: "read", color: 1 }] },
      "grants.0.color",
    ],
    ["POST", "/api/members", { email: "a@b.c", role: "viewer", organizationId: "org_x" }, "organizationId"],
    ["DELETE", "/api/projects/:id", { force: true }, "force"],
    ["POST", "/api/auth/logout", { everywhere: true }, "everywhere"],
    ["PUT", "/api/cloud/link", { url: "https://c.example", token: "t", color: 1 }, "color"],
  ])("%s %s refuses %j and names %s", async (method, path, body, name) => {
    const answer = await asOwner(method, path.replace(":id", projectId), { body });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContainEqual({ path: name, message: expect.stringMatching(/^is not a known field/) });
    expect(answer.body.error).toContain(`"${name}"`);
  });

  test.each([
    [{ name: 5 }, "name", "must be a text of 1 to 100 characters"],
    [{ name: { toString: "x", valueOf: "x" } }, "name", "must be a text of 1 to 100 characters"],
    [{ name: { toJSON: "x", length: -1 } }, "name", "must be a text of 1 to 100 characters"],
    [{ name: "" }, "name", "must be a text of 1 to 100 characters"],
    [{ name: "x".repeat(101) }, "name", "must be a text of 1 to 100 characters"],
    [{ name: "X", gitOwner: [{ toString: 1 }] }, "gitOwner", "must be a text of 1 to 100 characters"],
    [{ name: "X", port: "3000" }, "port", "must be a whole number from 1 to 65535"],
    [{ name: "X", port: 0 }, "port", "must be a whole number from 1 to 65535"],
    [{ name: "X", port: 1.5 }, "port", "must be a whole number from 1 to 65535"],
    [{ name: "X", rollbackWindow: -1 }, "rollbackWindow", "must be a whole number from 0 to 100"],
    [
      { name: "X", services: [{ name: "w", resources: { memoryBytes: 0 } }] },
      "services.0.resources.memoryBytes",
      "must be a whole number of at least 1",
    ],
    [
      { name: "X", services: [{ name: "w", resources: { cpus: 0 } }] },
      "services.0.resources.cpus",
      "must be a number greater than 0",
    ],
    [
      { name: "X", services: [{ name: "w", healthcheck: { interval: -1 } }] },
      "services.0.healthcheck.interval",
      "must be a whole number of at least 0",
    ],
    [
      { name: "X", services: [{ name: "w", healthcheck: { interval: true } }] },
      "services.0.healthcheck.interval",
      'must be a duration such as "30s" or "1m30s", or a whole number of at least 0',
    ],
    [
      { name: "X", services: [{ name: "w", ports: [65_536] }] },
      "services.0.ports.0",
      "must be a whole number from 1 to 65535",
    ],
    [
      { name: "X", publicEndpoints: [{ port: 65_536 }] },
      "publicEndpoints.0.port",
      "must be a whole number from 1 to 65535",
    ],
    [
      { name: "X", publicEndpoints: [{ port: "65536" }] },
      "publicEndpoints.0.port",
      "must be a whole number from 1 to 65535",
    ],
    [
      { name: "X", publicEndpoints: [{ port: [] }] },
      "publicEndpoints.0.port",
      "must be a whole number from 1 to 65535",
    ],
    [
      { name: "X", publicEndpoints: [{ targetPath: "api" }] },
      "publicEndpoints.0.targetPath",
      'must be a path of at most 1000 characters that begins with one "/", without spaces, "?" and "#"',
    ],
    [
      { name: "X", services: [{ name: "my app" }] },
      "services.0.name",
      'must be a name of 1 to 63 letters, digits, "_", "." and "-" that begins with a letter or digit',
    ],
    [
      { name: "X", services: [{ name: "w", environment: { "A B": "1" } }] },
      "services.0.environment.A B",
      'is not a valid name: give a name of 1 to 255 characters without spaces and "="',
    ],
    [
      { name: "X", services: [{ name: "w", build: 5 }] },
      "services.0.build",
      "must be a text of 1 to 1000 characters, or an object",
    ],
    [{ name: "X", hostPaths: Array(101).fill("/x") }, "hostPaths", "must be a list of at most 100 entries"],
    [{ name: "X", projectType: "moon" }, "projectType", "must be one of app, static, docker, services"],
    [{ name: "X", runtime: "constructor" }, "runtime", "must be one of docker, process"],
    [{ name: "X", requireApproval: "true" }, "requireApproval", "must be true or false"],
    [{ name: "X", gitBranch: null }, "gitBranch", "must be a text of 1 to 244 characters"],
    [{ name: "X", services: { name: "w" } }, "services", "must be a list of at most 100 entries"],
    [{ name: "X", services: [[]] }, "services.0", "must be an object"],
    [{ name: "X", services: [{ name: "w", healthcheck: [] }] }, "services.0.healthcheck", "must be an object"],
    [
      { name: "X", services: [{ name: "w", pullPolicy: "never" }] },
      "services.0.pullPolicy",
      "must be one of missing, always",
    ],
    [
      { name: "X", services: [{ name: "w", environment: { A: 1 } }] },
      "services.0.environment.A",
      "must be a text of at most 65536 characters",
    ],
    [
      { name: "X", services: [{ name: "w", dependsOn: 5 }] },
      "services.0.dependsOn",
      "must be a list of at most 100 entries, or an object",
    ],
    [
      { name: "X", publicEndpoints: [{ domainType: "paid" }] },
      "publicEndpoints.0.domainType",
      "must be one of free, custom",
    ],
  ])("POST /api/projects refuses %j: %s %s", async (body, path, message) => {
    const answer = await asOwner("POST", "/api/projects", { body });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toContainEqual({ path, message });
  });

  test.each([
    [{ prot: 80 }, "prot", 'is not a known field (did you mean "port"?)'],
    [{ git_url: "x" }, "git_url", 'is not a known field (did you mean "gitUrl"?)'],
    [{ LocalPath: "x" }, "LocalPath", 'is not a known field (did you mean "localPath"?)'],
    [
      { services: [{ name: "w", depends_on: [] }] },
      "services.0.depends_on",
      'is not a known field (did you mean "dependsOn"?)',
    ],
    [{ projectType: "statik" }, "projectType", 'must be one of app, static, docker, services (did you mean "static"?)'],
    [{ runtime: "Docker" }, "runtime", 'must be one of docker, process (did you mean "docker"?)'],
    [
      { services: [{ name: "w", dependsOn: { db: { condition: "healthy" } } }] },
      "services.0.dependsOn.db.condition",
      'must be one of service_started, service_healthy, service_completed_successfully (did you mean "service_healthy"?)',
    ],
  ])("PATCH /api/projects/:id refuses %j and suggests what was probably meant", async (body, path, message) => {
    const answer = await asOwner("PATCH", `/api/projects/${projectId}`, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toEqual([{ path, message }]);
    expect(answer.body.error).toBe(`Cannot accept the request: "${path}" ${message}`);
  });

  const ssh = { sshHost: "192.0.2.7", sshUser: "deploy", sshPassword: "word" };
  test.each([
    ["POST", "/api/projects", {}],
    ["POST", "/api/projects/ensure", {}],
    ["PATCH", "/api/projects/:id", {}],
    ["POST", "/api/organizations", {}],
    ["POST", "/api/tokens", {}],
    ["POST", "/api/servers", ssh],
    ["POST", "/api/backup-destinations", { kind: "local", endpoint: "/srv/backups" }],
    ["PATCH", "/api/auth/me", {}],
  ])("%s %s refuses a name with control characters", async (method, path, rest) => {
    const body = { name: "Harbour\nwest", ...rest };
    const refused = await asOwner(method, path.replace(":id", projectId), { body });
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ path: "name", message: "it contains a control character, such as a line break. Leave it out" }],
    ]);
  });

  test("values that the rules refuse get a suggestion too", async () => {
    expect(await errorOf("/api/backup-destinations", { name: "x", kind: "s3" })).toBe(
      'Cannot accept "kind": must be one of s3_compatible, sftp, platform_server, local (did you mean "s3_compatible"?)',
    );
    expect(
      await errorOf("/api/projects", { name: "X", services: [{ name: "w", image: "x", restart: "allways" }] }),
    ).toBe(
      'Cannot accept "services.0.restart": use no, always, unless-stopped, on-failure or on-failure:3 (did you mean "always"?)',
    );
  });

  test("no validation error uses the words of its library", async () => {
    const wrong: [string, string, object][] = [
      ["POST", "/api/tokens", { name: "x", expiresAt: "tomorrow" }],
      ["POST", "/api/tokens", { name: "x", grants: [{ resource: "projekt", id: 5, action: "raed" }] }],
      ["POST", "/api/members", { email: 5, role: "developper" }],
      ["POST", "/api/servers", { name: null, sshHost: 5, sshUser: [], sshPort: 99_999 }],
      ["PATCH", `/api/projects/${projectId}/env`, { upserts: { key: 5 }, deletes: [5] }],
      ["POST", "/api/auth/password", { password: "" }],
    ];
    for (const [method, path, body] of wrong) {
      const { error } = (await asOwner(method, path, { body })).body;
      expect(error).toMatch(/^Cannot accept the request: "/);
      expect(error).not.toMatch(/must be:|string|array|boolean|integer|format|length|to match|Expected/);
    }
  });

  test("a validation error never repeats the input, and lists no more than twenty fields", async () => {
    const canary = "canary-4711";
    const answers = [
      await asOwner("POST", "/api/projects", {
        body: { name: [canary], port: canary, services: [{ name: `!${canary}` }] },
      }),
      await asOwner("POST", "/api/auth/password", { body: { password: { value: canary } } }),
      await asOwner("POST", "/api/servers", {
        body: { name: "x", sshPassword: [canary], sshPrivateKey: 5, hostKey: canary },
      }),
      await asOwner("PATCH", `/api/projects/${projectId}/env`, { body: { upserts: [{ key: "A B", value: canary }] } }),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(400);
      expect(text).not.toContain(canary);
    }
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
    expect((await asOwner("POST", "/api/projects", { body: many })).body.details).toHaveLength(20);
  });
});

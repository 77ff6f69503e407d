import { describe, expect, test } from "bun:test";
import { memoryApp, SETTINGS } from "../support/apps/app.ts";
import { DESTINATION, SERVER } from "../support/apps/furnished.ts";
import { PLENTY, sessionOf } from "../support/database/upload_session_builders.ts";

const SFTP = { name: "Box", kind: "sftp", sshUser: "me", sftpPassword: "letmein" };
const LOCAL = { name: "Disk", kind: "local", endpoint: "/backups/a" };
const PRIVATE = "inside.example.com";
const MOUNTING = { name: "db", image: "postgres:17", volumes: ["/etc:/x"] };

/** A cloud whose operator allows what cloud mode refuses nevertheless, and one project. */
async function cloud() {
  const app = await memoryApp({
    mode: "cloud",
    backupAllowLocal: true,
    backupLocalRoot: "/backups",
    localSourceRoots: ["/srv"],
  });
  app.world.nameRecords.set(PRIVATE, { addresses: ["10.0.0.5"] });
  const { call, owner: token } = app;
  const ask = (method: string, path: string, body: object) => call(method, path, { token, body });
  const projectId = (await ask("POST", "/api/projects", { name: "Quay" })).body.data.id as string;
  return { ...app, ask, projectId };
}

describe("in cloud mode what reaches the host itself is refused", () => {
  test.each([
    ["POST", "/api/deployments/prepare", { source: "local", path: "/srv/shop" }, "local_source_forbidden"],
    ["POST", "/api/projects", { name: "X", localPath: "/srv/shop" }, "local_source_forbidden"],
    ["POST", "/api/projects/ensure", { name: "X", localPath: "/srv/shop" }, "local_source_forbidden"],
    ["PATCH", "/api/projects/:id", { localPath: "/srv/shop" }, "local_source_forbidden"],
    ["POST", "/api/projects/folder/session", { mode: "local" }, "local_source_forbidden"],
    ["POST", "/api/projects", { name: "X", hostPaths: ["/srv"] }, "host_access_forbidden"],
    ["PATCH", "/api/projects/:id", { hostPaths: ["/srv"] }, "host_access_forbidden"],
    ["POST", "/api/projects", { name: "X", services: [MOUNTING] }, "host_access_forbidden"],
    ["PATCH", "/api/projects/:id", { services: [MOUNTING] }, "host_access_forbidden"],
  ] as const)("%s %s %j with 403", async (method, path, body, code) => {
    const { ask, projectId } = await cloud();
    const { status, body: answer } = await ask(method, path.replace(":id", projectId), body);
    expect([status, answer.code]).toEqual([403, code]);
  });

  test("a deployment of an upload that was opened for the host, with 403", async () => {
    const { ask, call, owner, projectId, world } = await cloud();
    const { organization, user } = (await call("GET", "/api/auth/me", { token: owner })).body.data;
    const session = sessionOf({ organizationId: organization.id, userId: user.id, mode: "local", state: "ready" });
    await world.uploadSessions.create(session, { quota: PLENTY, lifetimeMs: 3_600_000 });
    const given = { projectId, uploadSessionId: session.id };
    const { status, body } = await ask("POST", "/api/deployments/build/access", given);
    expect([status, body.code]).toEqual([403, "local_source_forbidden"]);
  });

  test.each([
    ["POST", "/api/backup-destinations", LOCAL, "kind"],
    ["POST", "/api/backup-destinations/preflight", LOCAL, "kind"],
  ] as const)("%s %s on the disk with 400", async (method, path, body, field) => {
    const { ask } = await cloud();
    const { status, body: answer } = await ask(method, path, body);
    expect([status, answer.details?.[0]?.path]).toEqual([400, field]);
    expect(answer.error).toContain("cloud mode");
  });
});

describe("in cloud mode private addresses are refused", () => {
  test.each([
    ["/api/servers", { ...SERVER, sshHost: PRIVATE }, "sshHost"],
    ["/api/servers", { ...SERVER, sshHost: "169.254.169.254" }, "sshHost"],
    ["/api/backup-destinations", { ...DESTINATION, endpoint: `https://${PRIVATE}:9000` }, "endpoint"],
    ["/api/backup-destinations", { ...SFTP, sshHost: PRIVATE }, "sshHost"],
    ["/api/backup-destinations/preflight", { ...DESTINATION, endpoint: `https://${PRIVATE}` }, "endpoint"],
    ["/api/backup-destinations/preflight", { ...SFTP, sshHost: PRIVATE }, "sshHost"],
    ["/api/deployments/ssl/status", { domain: PRIVATE }, "domain"],
  ] as const)("by POST %s %j with 400", async (path, body, field) => {
    const { ask } = await cloud();
    const { status, body: answer } = await ask("POST", path, body);
    expect([status, answer.details?.[0]?.path]).toEqual([400, field]);
  });

  test("but not by a self-hosted installation", async () => {
    const { call, owner: token, world } = await memoryApp({ mode: SETTINGS.mode });
    world.nameRecords.set(PRIVATE, { addresses: ["10.0.0.5"] });
    const body = { ...SERVER, sshHost: PRIVATE };
    expect((await call("POST", "/api/servers", { token, body })).status).toBe(201);
  });
});

describe("in cloud mode routes for the operator's own machine do not exist", () => {
  test.each([
    ["POST", "/api/migration/scan"],
    ["POST", "/api/migration/adopt"],
    ["GET", "/api/githost/local-status"],
    ["GET", "/api/githost/connect/poll"],
  ] as const)("%s %s answers 404 like an unknown route", async (method, path) => {
    const { call, owner: token } = await memoryApp({ mode: "cloud" });
    const answer = await call(method, path, { token });
    expect([answer.status, answer.body.code]).toEqual([404, "route_not_found"]);
  });
});

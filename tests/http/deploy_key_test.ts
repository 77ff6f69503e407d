import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { pinnedHostKey } from "../../domain/projects/deploy_key.ts";
import { member, memoryApp, type TestApp } from "../support/apps/app.ts";

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;
let app: TestApp;
let id: string;
let path: string;

beforeAll(async () => {
  app = await memoryApp();
});

beforeEach(async () => {
  const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: crypto.randomUUID() } });
  id = project.body.data.id;
  path = `/api/projects/${id}/deploy-key`;
});

const call = (method: string, at = path, body?: unknown) =>
  app.call(method, at, { token: app.owner, ...(body !== undefined && { body }) });

async function pin(host: string): Promise<void> {
  const hostKey = pinnedHostKey(host, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", app.world.clock.now());
  await app.world.deployKeys.pinHostKey(id, hostKey!);
}

describe("POST /api/projects/:id/deploy-key", () => {
  test("makes a key and shows its public part only, there and in the audit log", async () => {
    const made = await call("POST", path, {});
    expect(made.status).toBe(201);
    const { slug } = (await call("GET", `/api/projects/${id}`)).body.data;
    expect(made.body.data).toEqual({
      publicKey: expect.stringMatching(new RegExp(`^ssh-ed25519 AAAA\\S+ slipway-${slug}$`)),
      fingerprint: expect.stringMatching(FINGERPRINT),
      createdAt: app.world.clock.now().toISOString(),
      hostKeys: [],
    });
    expect((await call("GET")).body).toEqual(made.body);
    const secret = (await app.world.deployKeys.privateKey(id))!.reveal();
    expect(secret).toStartWith("-----BEGIN OPENSSH PRIVATE KEY-----");
    const audit = (await call("GET", "/api/audit")).text;
    expect(audit).toContain("deploy_key.make");
    const log = app.world.log.lines.map(({ text }) => text).join("\n");
    for (const text of [made.text, audit, log]) expect(text).not.toContain(secret.split("\n")[2]!);
  });

  test("needs no body", async () => {
    expect((await call("POST")).status).toBe(201);
  });

  test("answers 409 if there is a key, unless it is to be replaced; then the pinned host keys stay", async () => {
    const first = (await call("POST", path, {})).body.data;
    await pin("git.example.com");
    for (const body of [{}, { replace: false }]) {
      const refused = await call("POST", path, body);
      expect([refused.status, refused.body.code]).toEqual([409, "deploy_key_exists"]);
    }
    expect((await call("GET")).body.data.publicKey).toBe(first.publicKey);
    const second = await call("POST", path, { replace: true });
    expect(second.status).toBe(201);
    expect(second.body.data.publicKey).not.toBe(first.publicKey);
    expect(second.body.data.hostKeys).toMatchObject([{ host: "git.example.com" }]);
  });

  test("of several requests at once, one makes the key", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => call("POST", path, {})));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  });

  test("refuses unknown fields and other types", async () => {
    for (const body of [{ replace: "yes" }, { privateKey: "x" }, []])
      expect((await call("POST", path, body)).status).toBe(400);
  });
});

describe("DELETE /api/projects/:id/deploy-key", () => {
  test("removes the key with the pinned host keys, and needs project:admin", async () => {
    await call("POST", path, {});
    await pin("git.example.com");
    const developer = await member(app, "developer");
    expect((await app.call("DELETE", path, { token: developer.token })).status).toBe(403);
    expect((await call("DELETE")).body).toEqual({ success: true });
    for (const method of ["GET", "DELETE"]) {
      const answer = await call(method);
      expect([answer.status, answer.body.code]).toEqual([404, "deploy_key_not_found"]);
    }
    expect((await call("POST", path, {})).body.data.hostKeys).toEqual([]);
  });
});

describe("DELETE /api/projects/:id/deploy-key/host-keys/:host", () => {
  test.each([
    ["git.example.com", "git.example.com"],
    ["git.example.com:2222", "git.example.com:2222"],
    ["git.example.com", "Git.Example.com"],
    ["git.example.com:2222", "git.example.com%3A2222"],
    ["[::1]:2222", "%5B%3A%3A1%5D%3A2222"],
  ])("forgets the key of %s at %s", async (host, written) => {
    await call("POST", path, {});
    await pin(host);
    await pin("other.example.com");
    const shown = (await call("GET")).body.data.hostKeys;
    expect(shown.map((each: { host: string }) => each.host).toSorted()).toEqual([host, "other.example.com"].toSorted());
    expect(shown[0]).toEqual({
      host: expect.any(String),
      fingerprint: expect.stringMatching(FINGERPRINT),
      pinnedAt: expect.any(String),
    });
    expect((await call("DELETE", `${path}/host-keys/${written}`)).body).toEqual({ success: true });
    expect((await call("GET")).body.data.hostKeys).toMatchObject([{ host: "other.example.com" }]);
    const again = await call("DELETE", `${path}/host-keys/${written}`);
    expect([again.status, again.body.code]).toEqual([404, "host_key_not_found"]);
  });
});

test("a deleted project has no deploy key any more", async () => {
  await call("POST", path, {});
  await call("DELETE", `/api/projects/${id}`);
  expect((await call("GET")).body.code).toBe("project_not_found");
  expect(await app.world.deployKeys.find(id)).toBeUndefined();
});

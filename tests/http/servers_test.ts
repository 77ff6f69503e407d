import { describe, expect, test } from "bun:test";
import type { MemoryMachine, MemoryProgram } from "../../adapters/memory/remote_hosts.ts";
import { type Call, member, memoryApp, type TestApp } from "../support/apps/app.ts";

const FIRST = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
const SECOND = "SHA256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0";
const KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary-key\n-----END OPENSSH PRIVATE KEY-----";
const SERVER = { name: "Berlin", sshHost: "berlin.example.com", sshUser: "deploy", sshPassword: "canary-password" };
const LOGINS = [{ user: "deploy", password: "canary-password" }];

const engine = (stdout: string, exitCode = 0, stderr = ""): ReadonlyMap<string, MemoryProgram> =>
  new Map([["docker", () => ({ exitCode, stdout, stderr })]]);

function machine(change: Partial<MemoryMachine> = {}): MemoryMachine {
  return { host: SERVER.sshHost, hostKey: FIRST, logins: LOGINS, programs: engine("28.2.2\n"), ...change };
}

/** For tests whose requests are all refused. */
const untouched = memoryApp();

/** An application with one server, which responds by default. */
async function scene(answers: MemoryMachine | undefined = machine()) {
  const app = await memoryApp();
  if (answers) app.world.remoteHosts.add(answers);
  const { id } = (await create(app)).body.data;
  return { app, id, ...acts(app, id) };
}

function create({ call, owner }: TestApp, body: object = {}) {
  return call("POST", "/api/servers", { token: owner, body: { ...SERVER, ...body } });
}

function acts({ call, owner }: TestApp, id: string) {
  const path = `/api/servers/${id}`;
  return {
    read: async () => (await call("GET", path, { token: owner })).body.data,
    check: (by: Call = { token: owner }) => call("POST", `${path}/check`, by),
    change: (body: unknown, token = owner) => call("PATCH", path, { token, body }),
  };
}

describe("POST /api/servers", () => {
  test("records a server and shows its secrets only as flags", async () => {
    const app = await memoryApp();
    const body = {
      name: " Key ",
      sshPort: 2222,
      sshPassword: null,
      sshPrivateKey: KEY,
      sshKeyPassphrase: "canary-phrase",
    };
    const answer = await create(app, body);
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({
      name: "Key",
      sshPort: 2222,
      hostKey: null,
      hasSshPassword: false,
      hasSshPrivateKey: true,
      hasSshKeyPassphrase: true,
      lastCheckedAt: null,
      lastCheckError: null,
    });
    const list = await app.call("GET", "/api/servers", { token: app.owner });
    const log = app.world.log.lines.map(({ text }) => text).join();
    for (const text of [answer.text, list.text, log]) expect(text).not.toContain("canary");
    expect((await create(app)).body.data).toMatchObject({ sshPort: 22, hasSshPassword: true, hasSshPrivateKey: false });
  });

  test.each([
    [{ sshPassword: undefined }, "sshPrivateKey"],
    [{ sshPassword: null, sshPrivateKey: null }, "sshPrivateKey"],
    [{ sshKeyPassphrase: "x" }, "sshKeyPassphrase"],
    [{ sshPassword: "" }, "sshPassword"],
    [{ name: " " }, "name"],
    [{ name: "x".repeat(81) }, "name"],
    [{ sshHost: "-oProxyCommand=id" }, "sshHost"],
    [{ sshHost: "a b" }, "sshHost"],
    [{ sshHost: "host\nname" }, "sshHost"],
    [{ sshHost: "$(id).example.com" }, "sshHost"],
    [{ sshHost: "127.1" }, "sshHost"],
    [{ sshHost: "0x7f000001" }, "sshHost"],
    [{ sshHost: "2130706433" }, "sshHost"],
    [{ sshHost: "user@host" }, "sshHost"],
    [{ sshHost: "host:22" }, "sshHost"],
    [{ sshUser: "-l" }, "sshUser"],
    [{ sshUser: "root;id" }, "sshUser"],
    [{ sshUser: "a b" }, "sshUser"],
    [{ sshPort: 0 }, "sshPort"],
    [{ sshPort: 65_536 }, "sshPort"],
    [{ sshPort: "22" }, "sshPort"],
    [{ hostKey: "SHA256:short" }, "hostKey"],
    [{ hostKey: "md5:aa:bb" }, "hostKey"],
    [{ serverId: "x" }, "serverId"],
  ])("refuses %j and names %s", async (body, path) => {
    const answer = await create(await untouched, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(answer.text).not.toContain("canary");
  });

  test("names are unique in the organization, regardless of case", async () => {
    const { app, change } = await scene();
    expect((await create(app, { name: "  BERLIN " })).status).toBe(409);
    const other = (await create(app, { name: "Other" })).body.data;
    expect((await acts(app, other.id).change({ name: "berlin" })).status).toBe(409);
    expect((await change({ name: "BERLIN" })).status).toBe(200);
  });

  test("accepts a host key as fingerprint or as public key line", async () => {
    const app = await memoryApp();
    const line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqfFoI7w1qNk4Kv0j4N2m3Vz2Zs7o8Yf1c3m5QxN0aB root@berlin";
    expect((await create(app, { hostKey: FIRST })).body.data.hostKey).toBe(FIRST);
    const { hostKey } = (await create(app, { name: "Line", hostKey: line })).body.data;
    expect(hostKey).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });
});

describe("POST /api/servers/:id/check", () => {
  test("records the key the first time, reports the engine, and closes the connection", async () => {
    const { app, check, read } = await scene();
    app.world.clock.advance(5_000);
    const answer = await check();
    expect(answer.body).toMatchObject({ success: true, hostKey: FIRST, engine: { name: "docker", version: "28.2.2" } });
    expect(await read()).toMatchObject({
      hostKey: FIRST,
      lastCheckedAt: app.world.clock.now().toISOString(),
      lastCheckError: null,
    });
    expect(app.world.remoteHosts.openSessions).toBe(0);
  });

  test.each([
    ["no engine", engine("", 127), "not installed"],
    ["an engine that the user may not use", engine("", 1, "permission denied while trying to connect"), "docker group"],
    ["an engine that is down", engine("", 1, "Cannot connect to the Docker daemon"), "start it"],
    ["an engine that answers nonsense", engine("<script>alert(1)</script>"), "start it"],
  ])("a server with %s is accepted, and the message says what to do", async (_, programs, hint) => {
    const { check } = await scene(machine({ programs }));
    const { status, body } = await check();
    expect([status, body.engine]).toEqual([200, null]);
    expect(body.message).toContain(hint);
    expect(body.message).not.toContain("<script>");
  });

  test("a changed key is refused with both fingerprints until an admin accepts it", async () => {
    const { app, id, check, read, change } = await scene();
    await check();
    app.world.remoteHosts.add(machine({ hostKey: SECOND }));
    const answer = await check();
    expect([answer.status, answer.body.code]).toEqual([409, "host_key_changed"]);
    for (const fingerprint of [FIRST, SECOND]) expect(answer.body.error).toContain(fingerprint);
    expect(await read()).toMatchObject({ hostKey: FIRST, lastCheckError: answer.body.error });
    const grants = [{ resource: "server", id, action: "write" }];
    const operator = await member(app, "restricted", { grants });
    const developer = await member(app, "developer");
    for (const hostKey of [SECOND, null]) {
      const refused = await change({ hostKey }, operator.token);
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('"server:admin"')]);
      expect((await change({ hostKey }, developer.token)).status).toBe(403);
    }
    expect((await check({ token: operator.token })).status).toBe(409);
    const admin = await member(app, "admin");
    expect((await change({ hostKey: SECOND }, admin.token)).body.data.hostKey).toBe(SECOND);
    expect((await check({ token: operator.token })).status).toBe(200);
    expect(await read()).toMatchObject({ lastCheckError: null });
  });

  test.each([
    ["an unreachable machine", undefined, {}, "unreachable"],
    ["a machine that hangs up", machine({ manner: "hangs_up" }), {}, "unreachable"],
    ["a wrong password", machine({ logins: [{ user: "deploy", password: "other" }] }), {}, "auth_failed"],
    ["an invalid key", machine(), { sshPrivateKey: "nonsense" }, "misconfigured"],
    ["no credentials any more", machine(), { sshPassword: null }, "misconfigured"],
  ])("%s answers 502 with an error, which is stored", async (_, answers, patch, code) => {
    const { app, id, check, read, change } = await scene(answers ?? machine({ host: "elsewhere.example.com" }));
    await change(patch);
    const answer = await check();
    expect([answer.status, answer.body.code]).toEqual([502, code]);
    expect(answer.body.error).toStartWith("Cannot ");
    expect(answer.text).not.toContain("canary");
    expect(await read()).toMatchObject({ hostKey: null, lastCheckError: answer.body.error });
    app.world.remoteHosts.add(machine());
    await acts(app, id).change({ sshPassword: SERVER.sshPassword, sshPrivateKey: null });
    expect((await check()).status).toBe(200);
    expect((await read()).lastCheckError).toBeNull();
  });
});

describe("PATCH /api/servers/:id", () => {
  test("an omitted credential stays, null clears it, a text replaces it", async () => {
    const { change, check } = await scene();
    expect((await change({ name: "Renamed" })).body.data).toMatchObject({ name: "Renamed", hasSshPassword: true });
    expect((await check()).status).toBe(200);
    const both = await change({ sshPrivateKey: KEY, sshKeyPassphrase: "canary-phrase" });
    expect(both.body.data).toMatchObject({ hasSshPassword: true, hasSshPrivateKey: true, hasSshKeyPassphrase: true });
    const cleared = await change({ sshPrivateKey: null, sshKeyPassphrase: null });
    expect(cleared.body.data).toMatchObject({
      hasSshPassword: true,
      hasSshPrivateKey: false,
      hasSshKeyPassphrase: false,
    });
    await change({ sshPassword: "wrong" });
    expect((await check()).body.code).toBe("auth_failed");
    for (const { text } of [both, cleared]) expect(text).not.toContain("canary");
  });

  test.each([{ sshHost: "elsewhere.example.com" }, { sshPort: 2222 }])(
    "a change to %j is refused while the stored password is kept",
    async (moved) => {
      const { change, read } = await scene();
      const refused = await change(moved);
      expect(refused.status).toBe(400);
      expect(refused.body.details[0].path).toBe("sshPassword");
      expect(await read()).toMatchObject({ sshHost: SERVER.sshHost, hasSshPassword: true });
      expect((await change({ ...moved, sshPassword: null })).body.data).toMatchObject({
        ...moved,
        hasSshPassword: false,
      });
    },
  );

  test("moving to another machine drops the recorded host key", async () => {
    const { change, check, read } = await scene();
    await check();
    expect((await change({ sshPort: 22, sshHost: SERVER.sshHost })).body.data.hostKey).toBe(FIRST);
    const moved = { sshPort: 2222, sshPassword: SERVER.sshPassword };
    expect((await change(moved)).body.data.hostKey).toBeNull();
    expect((await check()).status).toBe(502);
    expect((await read()).hostKey).toBeNull();
  });

  test("refuses what create refuses", async () => {
    const { change } = await scene();
    for (const body of [
      { sshHost: "-x" },
      { sshUser: "a b" },
      { name: " " },
      { sshPort: 0 },
      { hostKey: "x" },
      { sshHost: null },
    ]) {
      expect([body, (await change(body)).status]).toEqual([body, 400]);
    }
  });
});

test("DELETE /api/servers/:id removes it", async () => {
  const { app, id, check } = await scene();
  expect((await app.call("DELETE", `/api/servers/${id}`, { token: app.owner })).body).toEqual({ success: true });
  expect((await check()).status).toBe(404);
  expect((await app.call("GET", "/api/servers", { token: app.owner })).body.total).toBe(0);
});

describe("in cloud mode", () => {
  test.each([
    ["private.example.com", ["10.0.0.5"], 400],
    ["loopback.example.com", ["127.0.0.1"], 400],
    ["metadata.example.com", ["169.254.169.254"], 400],
    ["mixed.example.com", ["93.184.215.14", "192.168.0.1"], 400],
    ["six.example.com", ["fd00::1"], 400],
    ["mapped.example.com", ["::ffff:10.0.0.1"], 400],
    ["nowhere.example.com", [], 400],
    ["127.0.0.1", [], 400],
    ["::1", [], 400],
    ["public.example.com", ["93.184.215.14"], 201],
  ])("%s at %j answers %d", async (sshHost, addresses, status) => {
    const app = await memoryApp({ mode: "cloud" });
    app.world.nameRecords.set(sshHost, { addresses });
    app.world.nameRecords.set("fine.example.com", { addresses: ["93.184.215.14"] });
    const answer = await create(app, { sshHost });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.details[0].path).toBe("sshHost");
    const { id } = (await create(app, { name: "Fine", sshHost: "fine.example.com" })).body.data;
    const moved = { sshHost, sshPassword: "again" };
    expect((await acts(app, id).change(moved)).status).toBe(status === 201 ? 200 : 400);
  });
});

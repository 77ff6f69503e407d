import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GitHostScene } from "../support/apps/git_host_scene.ts";
import { query } from "../support/database/query.ts";
import { eventually } from "../support/eventually.ts";

const NO_SECRET = { GITHOST_CLIENT_SECRET: "" };
const NO_OAUTH = { ...NO_SECRET, GITHOST_CLIENT_ID: "" };

describe("a server without an app", () => {
  let scene: GitHostScene;
  let programs: string;
  beforeAll(async () => {
    programs = await mkdtemp(join(tmpdir(), "slipway-"));
    scene = await GitHostScene.start(GitHostScene.oauth);
    scene.host.addRepository({ owner: "ada", name: "site" });
    scene.host.addRepository({ owner: "acme", name: "shop" });
    scene.host.addRepository({ owner: "eve", name: "hidden" });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await rm(programs, { recursive: true, force: true });
  });

  /** Kills the server and starts it with other settings. */
  async function restart(settings: Record<string, string>): Promise<void> {
    await scene.slipway.kill();
    await scene.slipway.start(settings);
  }

  const names = async () =>
    (await scene.get("/repos")).body.data.map(({ fullName }: { fullName: string }) => fullName).sort();

  test("is connected by OAuth in the browser, stays so when it is killed, and is connected again once the login is refused", async () => {
    const { body } = await scene.post("/connect");
    expect(body.url).toStartWith(`${scene.host.webUrl}/login/oauth/authorize?client_id=${scene.host.clientId}&`);
    const denied = new URL(body.url).searchParams.get("state")!;
    expect((await scene.sendBack({ error: "access_denied", state: denied })).status).toBe(400);
    expect((await scene.state()).connected).toBe(false);
    await scene.connectAccount();
    await restart({});
    expect(await scene.state()).toMatchObject({
      primary: "oauth",
      sources: { oauth: { connected: true, login: "ada" } },
    });
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    expect((await scene.get("/repos/acme/shop/clone-token")).body.code).toBe("no_installation");
    expect((await scene.post("/connect")).body).toEqual({ connected: true });

    for (const issued of [scene.host.tokens, scene.host.refreshTokens]) issued.clear();
    expect((await scene.get("/repos")).body.code).toBe("githost_login_expired");
    await scene.host.fail("down");
    expect((await scene.post("/connect")).body).toEqual({ connected: true });
    await scene.host.fail(null);
    expect((await scene.post("/connect")).body.flow).toBe("redirect");
    await scene.connectAccount();
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    expect((await scene.post("/disconnect", { source: "oauth" })).body).toEqual({ success: true, source: "oauth" });
    expect((await scene.get("/repos")).body.code).toBe("githost_not_connected");
  });

  test("is connected by a code on another device, although it is killed before the user decides, and renews the login", async () => {
    await restart(NO_SECRET);
    scene.host.deviceIntervalSeconds = 1;
    const poll = async () => (await scene.get("/connect/poll")).body.status;
    expect(await poll()).toBe("none");
    const refused = (await scene.post("/connect")).body;
    scene.host.decideDevice(refused.userCode, "denied");
    await eventually(poll, (status) => status === "denied");

    const { body } = await scene.post("/connect");
    expect(body).toMatchObject({ flow: "device_code", verificationUri: `${scene.host.webUrl}/login/device` });
    const asked = scene.host.requests.length;
    await eventually(
      async () => scene.host.requests.length,
      (count) => count > asked,
    );
    expect(await poll()).toBe("pending");
    await restart(NO_SECRET);
    scene.host.decideDevice(body.userCode, { login: "ada" });
    await eventually(poll, (status) => status === "complete");
    expect((await scene.state()).sources.oauth).toEqual({ connected: true, login: "ada" });
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    const former = [...scene.host.deviceGrants];
    await query(scene.database.url, "update oauth_accounts set expires_at = now()");
    for (const token of scene.host.tokens.keys()) scene.host.tokens.delete(token);
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    expect([...scene.host.deviceGrants].length).toBe(former.length + 1);
    await scene.post("/disconnect");
    expect((await scene.state()).connected).toBe(false);
  });

  test("uses GITHOST_TOKEN as the login of the command-line client", async () => {
    const token = scene.host.issueToken("ada", { scopes: ["repo", "read:org"] }).reveal();
    await restart({ ...NO_OAUTH, GITHOST_TOKEN: token });
    expect((await scene.post("/connect", { source: "cli" })).body).toEqual({ connected: true });
    const local = await scene.get("/local-status");
    expect(local.body).toEqual({ available: true, login: "ada", scopes: ["repo", "read:org"] });
    expect(await scene.state()).toMatchObject({ primary: "cli", sources: { cli: { available: true, login: "ada" } } });
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    scene.host.tokens.delete(token);
    const expired = await scene.get("/repos");
    expect([expired.status, expired.body.code]).toEqual([400, "githost_login_expired"]);
    expect(scene.slipway.program.stdout + scene.slipway.program.stderr).not.toContain(token);
  });

  test("uses the login of the client gh, and says how to log in where it has none", async () => {
    const token = scene.host.issueToken("ada").reveal();
    const { host } = new URL(scene.host.webUrl);
    const login = join(programs, "token");
    const script = `#!/bin/sh\n[ "$*" = "auth token --hostname ${host}" ] && exec cat ${login}\n`;
    await writeFile(join(programs, "gh"), script);
    await chmod(join(programs, "gh"), 0o755);
    await restart({ ...NO_OAUTH, PATH: `${programs}:${process.env["PATH"]}` });
    const { body } = await scene.post("/connect");
    expect(body).toMatchObject({ flow: "terminal", command: `gh auth login --hostname ${host}` });
    expect((await scene.get("/local-status")).body).toEqual({ available: false, login: null, scopes: [] });
    await writeFile(login, `${token}\n`);
    await eventually(
      async () => (await scene.post("/connect")).body,
      ({ connected }) => connected,
    );
    expect(await scene.state()).toMatchObject({ primary: "cli", sources: { cli: { available: true, login: "ada" } } });
    expect(await names()).toEqual(["acme/shop", "ada/site"]);
    const refused = await scene.get("/repos/eve/hidden");
    expect([refused.status, refused.body.code]).toEqual([404, "repository_not_found"]);
  });
});

test("a server in cloud mode has neither the login of a client nor logins on other devices", async () => {
  await using scene = await GitHostScene.start((host) => ({
    SLIPWAY_MODE: "cloud",
    GITHOST_CLIENT_ID: host.clientId,
    GITHOST_TOKEN: host.issueToken("ada").reveal(),
  }));
  for (const path of ["/local-status", "/connect/poll"])
    expect([path, (await scene.get(path)).status]).toEqual([path, 404]);
  for (const body of [{}, { source: "oauth" }, { source: "cli" }]) {
    const refused = await scene.post("/connect", body);
    expect([refused.status, refused.body.code]).toEqual([400, "githost_not_configured"]);
  }
  expect(await scene.state()).toMatchObject({ connected: false, sources: { cli: { available: false, login: null } } });
  expect((await scene.get("/repos")).body.code).toBe("githost_not_connected");
  expect(scene.host.requests).toEqual([]);
});

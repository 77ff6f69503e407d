import { emptyCloud } from "../support/servers/empty_cloud.ts";
import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { eventually } from "../support/eventually.ts";
import { browser, login, member, ownerSession } from "../support/apps/app.ts";
import {
  APP,
  CALLBACK,
  confirm,
  connectAccount,
  gitHostApp,
  type GitHostApp,
  installApp,
  OAUTH,
} from "../support/apps/git_host_app.ts";

const BOTH = { githostApp: APP, githostOAuth: OAUTH };

async function stateOf(app: GitHostApp, token = app.owner) {
  return (await app.get("/status", token)).body.state;
}

async function newState(app: GitHostApp, body: object = {}): Promise<string> {
  const answer = await app.post("/connect", body);
  return new URL(answer.body.url).searchParams.get("state")!;
}

describe("POST /api/githost/connect", () => {
  test("with an app leads to its installation, and says so once it is installed", async () => {
    const app = await gitHostApp(BOTH);
    const { body } = await app.post("/connect");
    expect(body).toMatchObject({ connected: false, flow: "redirect" });
    expect(body.url).toStartWith("https://git.example.com/apps/slipway-test/installations/new?state=");
    await installApp(app, "acme");
    expect((await app.post("/connect")).body).toEqual({ connected: true });
    const { sources, primary } = await stateOf(app);
    expect(primary).toBe("app");
    expect(sources.app).toEqual({
      connected: true,
      installations: [{ id: expect.any(Number), account: "acme", suspended: false }],
    });
  });

  test("with an OAuth app leads to the authorization, for each member", async () => {
    const app = await gitHostApp({ githostOAuth: OAUTH });
    const { body } = await app.post("/connect");
    const url = new URL(body.url);
    expect(url.origin + url.pathname).toBe("https://git.example.com/login/oauth/authorize");
    expect(url.searchParams.get("client_id")).toBe("client-1");
    expect(url.searchParams.get("redirect_uri")).toBe(`http://slipway.test${CALLBACK}`);
    expect(body.url).not.toContain("oauth-secret-canary");
    await connectAccount(app, "ada");
    expect((await app.post("/connect", { source: "oauth" })).body).toEqual({ connected: true });
    expect((await stateOf(app)).sources.oauth).toEqual({ connected: true, login: "ada" });
    const developer = await member(app, "developer");
    expect((await app.post("/connect", { source: "oauth" }, developer.token)).body.flow).toBe("redirect");
  });

  test("with a client id alone starts a login on another device, which is polled at the host's interval", async () => {
    const app = await gitHostApp({ githostOAuth: { clientId: "client-1", clientSecret: undefined } });
    expect((await app.get("/connect/poll")).body).toEqual({ status: "none" });
    const { body } = await app.post("/connect");
    expect(body).toMatchObject({ connected: false, flow: "device_code" });
    expect((await app.get("/connect/poll")).body).toEqual({ status: "pending" });
    app.host.decideDevice(body.userCode, { login: "ada" });
    const stop = new AbortController();
    const watching = app.useCases.watchDeviceLogins(stop.signal);
    app.world.clock.advance((body.interval + 1) * 1_000);
    const polled = await eventually(
      async () => (await app.get("/connect/poll")).body.status,
      (status) => status !== "pending",
    );
    stop.abort();
    await watching;
    expect(polled).toBe("complete");
    expect((await stateOf(app)).sources.oauth.login).toBe("ada");
  });

  test("without settings uses the login of the command-line client, or says how to log in", async () => {
    const app = await gitHostApp();
    const { body } = await app.post("/connect");
    expect(body).toMatchObject({ connected: false, flow: "terminal" });
    expect(body.command).toBe("gh auth login --hostname git.example.com");
    expect((await app.get("/local-status")).body).toEqual({ available: false, login: null, scopes: [] });
    app.host.commandLineToken = app.host.issueToken("ada", { scopes: ["repo"] });
    expect((await app.post("/connect")).body).toEqual({ connected: true });
    expect((await app.get("/local-status")).body).toEqual({ available: true, login: "ada", scopes: ["repo"] });
    expect(await stateOf(app)).toMatchObject({ primary: "cli", sources: { cli: { available: true, login: "ada" } } });
  });

  test("without settings asks the linked cloud, and says when that does not answer", async () => {
    const app = await gitHostApp();
    const link = { url: "https://cloud.example.com", token: "slp_cloud_canary" };
    app.world.cloudApi.clouds.set(link.url, emptyCloud);
    await app.call("PUT", "/api/cloud/link", { token: app.owner, body: link });
    const refused = await app.post("/connect");
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ success: false, error: "cloud_unreachable", code: "cloud_unreachable" });
    expect(refused.body.message).toStartWith("Cannot reach the hosted cloud");
    expect((await app.get("/status")).body).toMatchObject({ installUrl: null, cloudUnreachable: true });
    app.world.cloudGitHost.urls.set(link.url, "https://git.example.com/apps/cloud/installations/new");
    expect((await app.post("/connect")).body).toMatchObject({ flow: "redirect" });
    expect((await app.get("/status")).body.cloudUnreachable).toBe(false);
  });

  test("in cloud mode knows neither the command-line client nor other devices", async () => {
    const app = await gitHostApp({ mode: "cloud", ...BOTH });
    app.host.commandLineToken = app.host.issueToken("ada");
    for (const path of ["/local-status", "/connect/poll"]) expect((await app.get(path)).status).toBe(404);
    expect((await app.post("/connect", { source: "cli" })).body.code).toBe("githost_not_configured");
    expect((await stateOf(app)).sources.cli).toEqual({ available: false, login: null });
  });

  test("does not hand the operator's command-line login to other organizations", async () => {
    const app = await gitHostApp();
    app.host.commandLineToken = app.host.issueToken("ada");
    const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    const elsewhere = browser(await ownerSession(app), { "x-organization-id": second.body.data.id });
    expect((await app.call("GET", "/api/githost/repos", elsewhere)).body.code).toBe("githost_not_connected");
    expect((await app.call("GET", "/api/githost/local-status", elsewhere)).body.available).toBe(false);
    const refused = await app.call("POST", "/api/githost/connect", { ...elsewhere, body: { source: "cli" } });
    expect(refused.body.code).toBe("cli_unavailable");
  });
});

describe("a login that the git host does not accept any more", () => {
  test("is connected again by the same request", async () => {
    const app = await gitHostApp({ githostOAuth: OAUTH });
    await connectAccount(app, "ada");
    app.host.tokens.clear();
    expect((await app.get("/repos")).body.code).toBe("githost_login_expired");
    expect((await app.get("/status")).body).toMatchObject({
      accounts: [],
      state: { sources: { oauth: { login: "ada" } } },
    });
    for (const body of [{}, { source: "oauth" }]) expect((await app.post("/connect", body)).body.flow).toBe("redirect");
    await connectAccount(app, "ada");
    expect((await app.get("/repos")).status).toBe(200);
    app.host.fail("down");
    expect((await app.post("/connect")).body).toEqual({ connected: true });
  });

  test("does not keep a member from what the app sees", async () => {
    const app = await gitHostApp(BOTH);
    await installApp(app, "acme");
    await connectAccount(app, "ada");
    app.host.tokens.clear();
    app.host.refreshTokens.clear();
    app.world.clock.advance(9 * 3_600_000);
    for (const path of ["/status", "/home", "/repos", "/repos/acme/shop"]) {
      expect([path, (await app.get(path)).status]).toEqual([path, 200]);
    }
  });

  test("of an app that was uninstalled unnoticed leads to its installation again", async () => {
    const app = await gitHostApp(BOTH);
    app.host.uninstall(await installApp(app, "acme"));
    expect((await app.post("/connect")).body.flow).toBe("redirect");
  });
});

describe("the callback of the git host", () => {
  test("leaves an entry in the audit log", async () => {
    const app = await gitHostApp(BOTH);
    await installApp(app, "acme");
    app.world.clock.advance(1_000);
    await connectAccount(app, "ada");
    const { data } = (await app.call("GET", "/api/audit?action=githost.connected", { token: app.owner })).body;
    expect(data.map(({ target, outcome }: Record<string, string>) => [target, outcome])).toEqual([
      ["ada", "succeeded"],
      ["acme", "succeeded"],
    ]);
  });

  test("stores at once for the browser of who started, and links back", async () => {
    const app = await gitHostApp(BOTH);
    const cookie = await ownerSession(app);
    const state = await newState(app, { source: "oauth" });
    const page = await app.call("GET", `${CALLBACK}?code=${app.host.authorize("ada")}&state=${state}`, { cookie });
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(page.text).toContain("The account ada of the git host is connected");
    expect((await stateOf(app)).sources.oauth.login).toBe("ada");
  });

  test("asks any other browser first, and stores nothing until then", async () => {
    const app = await gitHostApp(BOTH);
    const other = await member(app, "admin");
    const state = await newState(app, { source: "oauth" });
    const code = app.host.authorize("ada");
    for (const cookie of [undefined, other.cookie]) {
      const page = await app.call("GET", `${CALLBACK}?code=${code}&state=${state}`, cookie ? { cookie } : {});
      expect(page.text).toContain("Connect the git host?");
      expect((await stateOf(app)).sources.oauth.connected).toBe(false);
    }
    expect((await confirm(app, { code, state })).body.success).toBe(true);
    expect((await stateOf(app)).sources.oauth.connected).toBe(true);
  });

  test.each(["forged", "v1.x.y.z", "a".repeat(43)])("refuses the state %p", async (state) => {
    const app = await gitHostApp(BOTH);
    const code = app.host.authorize("ada");
    const refused = await app.call("GET", `${CALLBACK}?code=${code}&state=${state}`);
    expect([refused.status, refused.body.code]).toEqual([400, "connect_state_invalid"]);
    expect((await confirm(app, { code, state })).body.code).toBe("connect_state_invalid");
    expect((await stateOf(app)).connected).toBe(false);
  });

  test("refuses a callback without a state, a used one, and one after ten minutes", async () => {
    const app = await gitHostApp(BOTH);
    expect((await app.call("GET", `${CALLBACK}?code=x`)).body.code).toBe("connect_state_invalid");
    const state = await newState(app, { source: "oauth" });
    expect((await confirm(app, { state, code: app.host.authorize("ada") })).status).toBe(200);
    expect((await confirm(app, { state, code: app.host.authorize("ada") })).body.code).toBe("connect_state_invalid");
    const late = await newState(app, {});
    app.world.clock.advance(600_000);
    const refused = await confirm(app, { state: late, code: app.host.authorize("ada") });
    expect(refused.body.code).toBe("connect_state_invalid");
  });

  test("stores nothing when the user refuses, or the git host does not know the code", async () => {
    const app = await gitHostApp(BOTH);
    const denied = await newState(app, { source: "oauth" });
    const refused = await app.call("GET", `${CALLBACK}?error=access_denied&state=${denied}`);
    expect(refused.body.code).toBe("connect_denied");
    expect((await confirm(app, { state: denied, code: "x" })).body.code).toBe("connect_state_invalid");
    const unknown = await newState(app, { source: "oauth" });
    expect((await confirm(app, { state: unknown, code: "unknown" })).body.code).toBe("githost_login_expired");
    expect((await stateOf(app)).connected).toBe(false);
  });

  test("connects an installation only for who can manage it", async () => {
    const app = await gitHostApp(BOTH);
    app.host.addAccount("eve");
    const id = app.host.install("acme");
    const state = await newState(app);
    const { body } = await confirm(app, { state, installationId: id });
    const next = new URL(body.url).searchParams.get("state");
    const refused = await confirm(app, { state: next, code: app.host.authorize("eve") });
    expect(refused.body.code).toBe("installation_not_found");
    expect((await stateOf(app)).connected).toBe(false);
  });

  test("without OAuth connects only an installation that was made after the start", async () => {
    const app = await gitHostApp({ githostApp: APP });
    const old = app.host.install("acme");
    app.world.clock.advance(3_600_000);
    const refused = await confirm(app, { state: await newState(app), installationId: old });
    expect(refused.body.code).toBe("installation_unverified");
    await installApp(app, "ada");
    expect((await stateOf(app)).sources.app.installations).toMatchObject([{ account: "ada" }]);
  });

  test("connects an installation to one organization", async () => {
    const app = await gitHostApp(BOTH);
    const id = await installApp(app, "acme");
    const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    const elsewhere = browser(await ownerSession(app), { "x-organization-id": second.body.data.id });
    const { body } = await app.call("POST", "/api/githost/connect", { ...elsewhere, body: {} });
    const state = new URL(body.url).searchParams.get("state");
    const next = new URL((await confirm(app, { state, installationId: id })).body.url).searchParams.get("state");
    const refused = await confirm(app, { state: next, code: app.host.authorize("ada") });
    expect([refused.status, refused.body.code]).toEqual([409, "installation_taken"]);
  });

  test("does nothing for a member who was removed meanwhile", async () => {
    const app = await gitHostApp(BOTH);
    const developer = await member(app, "developer");
    const started = await app.post("/connect", { source: "oauth" }, developer.token);
    const state = new URL(started.body.url).searchParams.get("state");
    await app.call("DELETE", `/api/members/${developer.userId}`, { token: app.owner });
    const refused = await confirm(app, { state, code: app.host.authorize("ada") });
    expect(refused.body.code).toBe("connect_state_invalid");
  });

  test("refuses to be confirmed by a page of another site", async () => {
    const app = await gitHostApp(BOTH);
    const state = await newState(app, { source: "oauth" });
    const body = { state, code: app.host.authorize("ada") };
    const refused = await app.call("POST", CALLBACK, { body, headers: { origin: "https://evil.example.com" } });
    expect(refused.body.code).toBe("foreign_origin");
  });
});

describe("POST /api/githost/disconnect", () => {
  test("gives up a login on another device that is still pending", async () => {
    const app = await gitHostApp({ githostOAuth: { clientId: "client-1", clientSecret: undefined } });
    const { body } = await app.post("/connect");
    await app.post("/disconnect", { source: "oauth" });
    expect((await app.get("/connect/poll")).body).toEqual({ status: "denied" });
    app.host.decideDevice(body.userCode, { login: "ada" });
    app.world.clock.advance((body.interval + 1) * 1_000);
    expect(await app.world.connectAttempts.takeDueDevice(app.world.clock.now())).toBeUndefined();
    expect((await stateOf(app)).sources.oauth.connected).toBe(false);
  });

  test("drops one source, or all, and leaves the git host alone", async () => {
    const app = await gitHostApp(BOTH);
    const id = await installApp(app, "acme");
    await connectAccount(app, "ada");
    app.host.commandLineToken = app.host.issueToken("ada");
    expect((await app.post("/disconnect", { source: "oauth" })).body).toEqual({ success: true, source: "oauth" });
    expect((await stateOf(app)).sources).toMatchObject({
      app: { connected: true },
      oauth: { connected: false },
      cli: { available: true },
    });
    const answer = await app.call("POST", "/api/githost/disconnect?source=cli", { token: app.owner });
    expect(answer.body.source).toBe("cli");
    expect((await stateOf(app)).sources.cli.available).toBe(false);
    expect((await app.post("/connect", { source: "cli" })).body).toEqual({ connected: true });
    expect((await app.post("/disconnect")).body.source).toBe("all");
    expect(await stateOf(app)).toMatchObject({ connected: false, primary: null });
    expect(app.host.installations.has(id)).toBe(true);
  });

  test("needs githost:admin", async () => {
    const app = await gitHostApp();
    const developer = await member(app, "developer");
    expect((await app.post("/disconnect", {}, developer.token)).body.error).toContain("githost:admin");
  });
});

test("no answer or log line about the connection contains a token, a code or a secret", async () => {
  const app = await gitHostApp({ ...BOTH, githostWebhookSecret: new Secret("webhook-canary") });
  await installApp(app, "acme");
  await connectAccount(app, "ada");
  const texts = [];
  for (const path of ["/status", "/home", "/repos", "/local-status"]) texts.push((await app.get(path)).text);
  texts.push(...app.world.log.lines.map(({ text }) => text));
  const secrets = [
    ...app.host.tokens.keys(),
    ...app.host.refreshTokens.keys(),
    "oauth-secret-canary",
    "webhook-canary",
  ];
  for (const secret of secrets) expect(texts.join("\n")).not.toContain(secret);
});

test("a session of another user of the same organization is not taken for who started", async () => {
  const app = await gitHostApp(BOTH);
  const other = await member(app, "owner");
  const cookie = await login(app, other.email, other.password);
  const state = await newState(app, { source: "oauth" });
  const page = await app.call("GET", `${CALLBACK}?code=${app.host.authorize("ada")}&state=${state}`, { cookie });
  expect(page.text).toContain("Connect the git host?");
});

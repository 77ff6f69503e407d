import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { OctokitAccounts } from "../../adapters/githost/octokit_accounts.ts";
import { type GitHostSettings, OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitHooks } from "../../adapters/githost/octokit_hooks.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { failureOf, LOGIN_EXPIRED, NEVER, REFUSED } from "../contracts/git_host_stage.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

const SITE = { owner: "ada", repo: "site" };
const FAILED = { kind: "remote_failed", code: "githost_failed" };
const NOT_CONFIGURED = { kind: "unavailable", code: "githost_not_configured" };
const RSA = {
  modulusLength: 2_048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "pkcs1", format: "pem" },
} as const;

let host: EmulatedGitHost;
let token: Secret;
let access: HostAccess;

beforeAll(async () => {
  host = await EmulatedGitHost.start();
  host.addAccount("ada");
  host.addRepository({ owner: "ada", name: "site", branches: { main: { "README.md": "# Site\n" } } });
  host.addRepository({ owner: "ada", name: "other" });
  token = host.issueToken("ada");
  access = { kind: "token", token };
});
beforeEach(() => {
  host.intercept = undefined;
  host.requests.length = 0;
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
});

function adapters(changes: Partial<GitHostSettings> = {}) {
  const clients = new OctokitClients(hostSettings(host, changes));
  return {
    repositories: new OctokitRepositories(clients),
    accounts: new OctokitAccounts(clients),
    hooks: new OctokitHooks(clients),
  };
}

/** How many tokens of installations were asked for. */
function issued(): number {
  return host.requests.filter(({ line }) => line.endsWith("/access_tokens")).length;
}

describe("a host that does not answer as it should", () => {
  test.each(["html", "error", "truncated", "empty", "silent", "dripping"] as const)(
    "%s answers are a failure of the host, for every kind of request",
    async (fault) => {
      const { repositories, accounts, hooks } = adapters({ requestTimeoutMs: 1_500 });
      const installationId = host.install("ada");
      host.intercept = () => fault;
      const hook = { url: "https://slipway.example.com/hook", events: ["push"], secret: new Secret("hook-secret") };
      const failures = [
        repositories.find(access, SITE, NEVER),
        repositories.list({ kind: "installation", installationId }, NEVER),
        repositories.create(access, { name: "x", private: true }, NEVER),
        hooks.create(access, SITE, hook, NEVER),
        accounts.user(token, NEVER),
        accounts.installation(installationId, NEVER),
        accounts.exchangeCode(host.authorize("ada"), host.redirectUrl, NEVER),
        accounts.startDeviceLogin(NEVER),
      ].map((call) => failureOf(call, token, hook.secret));
      for (const failure of await Promise.all(failures)) expect(failure).toMatchObject(FAILED);
    },
    60_000,
  );

  test("only reading is repeated after an error of the host", async () => {
    host.intercept = (request) => (request.method === "GET" && request.url.endsWith("/user") ? undefined : "error");
    const { repositories } = adapters();
    await failureOf(repositories.create(access, { name: "x", private: true }, NEVER));
    expect(host.requests.filter(({ line }) => line.startsWith("POST"))).toHaveLength(1);
    await failureOf(repositories.find(access, SITE, NEVER));
    expect(host.requests.filter(({ line }) => line.includes("/repos/ada/site"))).toHaveLength(3);
  });

  test("aborting ends a call at once: while it waits for an answer, and for a rate limit", async () => {
    for (const fault of ["silent", { rateLimitedForSeconds: 20 }] as const) {
      const aborting = new AbortController();
      const asked = Promise.withResolvers<void>();
      host.intercept = () => {
        asked.resolve();
        return fault;
      };
      const outcome = adapters()
        .repositories.list(access, aborting.signal)
        .catch((error: unknown) => error);
      await asked.promise;
      const reason = new Error("Enough");
      aborting.abort(reason);
      expect(await outcome).toBe(reason);
    }
  });

  test("what the host says is passed on without the token", async () => {
    const words = `You sent ${token.reveal()}\nwhich is odd`;
    host.intercept = () => Response.json({ message: words }, { status: 422 });
    const failure = await failureOf(adapters().repositories.find(access, SITE, NEVER), token);
    expect(failure).toMatchObject(REFUSED);
    expect(failure.message).toContain("You sent [secret] which is odd");
  });
});

describe("redirects", () => {
  test("a repository that was renamed is found under its former name", async () => {
    host.addRepository({ owner: "ada", name: "former", branches: { main: { "README.md": "moved" } } });
    host.rename("ada", "former", "renamed");
    const { repositories } = adapters();
    const former = { owner: "ada", repo: "former" };
    expect(await repositories.find(access, former, NEVER)).toMatchObject({ fullName: "ada/renamed" });
    expect(await repositories.branches(access, former, NEVER)).toHaveLength(1);
    const { bytes } = await repositories.file(access, former, { path: "README.md" }, NEVER);
    expect(Buffer.from(bytes).toString()).toBe("moved");
  });

  test("a redirect to another origin is not followed, nor is one without end", async () => {
    await using stranger = await EmulatedGitHost.start();
    for (const [status, target] of [
      [301, stranger.apiUrl],
      [302, stranger.apiUrl],
      [307, stranger.apiUrl],
      [308, stranger.apiUrl],
      [301, host.apiUrl],
    ] as const) {
      host.intercept = () => Response.json({}, { status, headers: { location: `${target}/repos/ada/site` } });
      expect(await failureOf(adapters().repositories.find(access, SITE, NEVER), token)).toMatchObject(FAILED);
      const removed = adapters().repositories.remove(access, SITE, NEVER);
      expect(await failureOf(removed, token)).toMatchObject(FAILED);
    }
    expect(stranger.requests).toEqual([]);
  });

  test("links to another origin are not followed", async () => {
    await using stranger = await EmulatedGitHost.start();
    const link = `<${stranger.apiUrl}/user/repos?page=2>; rel="next", <${stranger.apiUrl}/user/repos?page=2>; rel="last"`;
    host.intercept = (_, url) =>
      url.searchParams.get("page") === "1" ? Response.json([], { headers: { link } }) : undefined;
    expect(await adapters().repositories.list(access, NEVER)).toEqual([]);
    expect(stranger.requests).toEqual([]);
  });
});

describe("tokens of installations", () => {
  test("are used again while they are valid, and renewed before they expire", async () => {
    const { repositories } = adapters();
    const lasting = { kind: "installation", installationId: host.install("ada") } as const;
    await Promise.all([repositories.list(lasting, NEVER), repositories.find(lasting, SITE, NEVER)]);
    await repositories.branches(lasting, SITE, NEVER);
    expect(issued()).toBe(1);
    host.installationTokenSeconds = 299;
    const short = { kind: "installation", installationId: host.install("ada") } as const;
    await repositories.list(short, NEVER);
    await repositories.list(short, NEVER);
    expect(issued()).toBe(3);
    host.installationTokenSeconds = 3_600;
  });

  test("are renewed once when the host has revoked them", async () => {
    const { repositories } = adapters();
    const installed = { kind: "installation", installationId: host.install("ada") } as const;
    await repositories.list(installed, NEVER);
    host.revokeInstallationTokens(installed.installationId);
    expect(await repositories.list(installed, NEVER)).not.toEqual([]);
    expect(issued()).toBe(2);
    host.intercept = (_, url) =>
      url.pathname.endsWith("/access_tokens")
        ? undefined
        : Response.json({ message: "Bad credentials" }, { status: 401 });
    expect(await failureOf(repositories.list(installed, NEVER))).toMatchObject(LOGIN_EXPIRED);
    expect(issued()).toBe(3);
  });

  test("an aborted call does not take the token from another that waits for it", async () => {
    const { repositories } = adapters();
    const installed = { kind: "installation", installationId: host.install("ada") } as const;
    const [aborting, asked, answered] = [new AbortController(), Promise.withResolvers(), Promise.withResolvers()];
    let isHeld = true;
    host.intercept = (_, url) => {
      if (!isHeld || !url.pathname.endsWith("/access_tokens")) return undefined;
      isHeld = false;
      asked.resolve(undefined);
      return Response.json({ message: "Slow down" }, { status: 429, headers: { "retry-after": "1" } });
    };
    const first = repositories.list(installed, aborting.signal).catch((error: unknown) => error);
    const second = repositories.list(installed, NEVER);
    await asked.promise;
    const reason = new Error("Enough");
    aborting.abort(reason);
    expect(await first).toBe(reason);
    answered.resolve(undefined);
    expect(await second).not.toEqual([]);
    expect(issued()).toBe(2);
  });

  test.each([
    ["another app's key", { id: "4711", privateKey: new Secret(generateKeyPairSync("rsa", RSA).privateKey) }],
    ["another app's id", () => ({ id: "1", privateKey: new Secret(host.appPrivateKey) })],
    ["a key that is none", { id: "4711", privateKey: new Secret("-----BEGIN RSA PRIVATE KEY-----\nx\n-----END") }],
    ["no app at all", undefined],
  ] as const)("%s is reported as a wrong setting", async (_, given) => {
    const app = typeof given === "function" ? given() : given;
    const { repositories, accounts } = adapters({ app });
    const installationId = host.install("ada");
    for (const call of [
      () => repositories.list({ kind: "installation", installationId }, NEVER),
      () => repositories.cloneToken(installationId, SITE, NEVER),
      () => accounts.installation(installationId, NEVER),
    ]) {
      expect(await failureOf(call(), ...(app ? [app.privateKey] : []))).toMatchObject(NOT_CONFIGURED);
    }
  });
});

describe("logins", () => {
  test("work on a host whose API is at the root of its address", async () => {
    const { accounts, repositories } = adapters({ apiUrl: `${host.origin}/` });
    const grant = await accounts.exchangeCode(host.authorize("ada"), host.redirectUrl, NEVER);
    expect(await accounts.user(grant.token, NEVER)).toMatchObject({ login: "ada" });
    expect(await repositories.list({ kind: "installation", installationId: host.install("ada") }, NEVER)).not.toEqual(
      [],
    );
    expect(host.requests.some(({ line }) => line.includes("/api/v3"))).toBe(false);
  });

  test("whose tokens do not expire cannot be renewed", async () => {
    host.expiringUserTokens = false;
    const grant = await adapters().accounts.exchangeCode(host.authorize("ada"), host.redirectUrl, NEVER);
    host.expiringUserTokens = true;
    expect(grant).toMatchObject({ refreshToken: null, expiresAt: null });
  });

  test("with a wrong callback address are refused, and the code stays good", async () => {
    const { accounts } = adapters();
    const code = host.authorize("ada");
    const failure = await failureOf(
      accounts.exchangeCode(code, "https://elsewhere.example.com/", NEVER),
      new Secret(code),
    );
    expect(failure).toMatchObject(REFUSED);
    await accounts.exchangeCode(code, host.redirectUrl, NEVER);
  });

  test("with a wrong or missing client are reported as a wrong setting", async () => {
    const code = host.authorize("ada");
    for (const oauth of [
      { clientId: host.clientId, clientSecret: new Secret("wrong-client-secret") },
      { clientId: "Iv1.unknown", clientSecret: new Secret(host.clientSecret) },
      { clientId: host.clientId },
      undefined,
    ]) {
      const { accounts } = adapters({ oauth });
      const secrets = oauth?.clientSecret ? [oauth.clientSecret] : [];
      const call = accounts.exchangeCode(code, host.redirectUrl, NEVER);
      expect(await failureOf(call, ...secrets)).toMatchObject(NOT_CONFIGURED);
    }
    expect(await failureOf(adapters({ oauth: undefined }).accounts.startDeviceLogin(NEVER))).toMatchObject(
      NOT_CONFIGURED,
    );
  });

  test("on another device need no client secret, and pass on that the host is asked too often", async () => {
    const { accounts } = adapters({ oauth: { clientId: host.clientId } });
    host.deviceIntervalSeconds = 5;
    const { deviceCode, userCode, intervalSeconds } = await accounts.startDeviceLogin(NEVER);
    host.deviceIntervalSeconds = 0;
    expect(intervalSeconds).toBe(5);
    expect(await accounts.checkDeviceLogin(deviceCode, NEVER)).toEqual({ status: "pending", intervalSeconds: null });
    expect(await accounts.checkDeviceLogin(deviceCode, NEVER)).toEqual({ status: "pending", intervalSeconds: 10 });
    host.decideDevice(userCode, "denied");
    expect(await accounts.checkDeviceLogin(deviceCode, NEVER)).toEqual({ status: "denied" });
  });

  test("on another device ask for scopes where there is no app that has permissions of its own", async () => {
    host.expiringUserTokens = false;
    const { accounts } = adapters({ app: undefined, oauth: { clientId: host.clientId } });
    const { deviceCode, userCode } = await accounts.startDeviceLogin(NEVER);
    host.decideDevice(userCode, { login: "ada" });
    const state = await accounts.checkDeviceLogin(deviceCode, NEVER);
    host.expiringUserTokens = true;
    if (state.status !== "complete") throw new Error(state.status);
    const { scopes } = await accounts.user(state.grant.token, NEVER);
    expect(scopes).toEqual(["repo", "read:org", "admin:repo_hook"]);
  });

  test("on another device are refused where the app does not allow them", async () => {
    host.deviceFlowEnabled = false;
    const failure = await failureOf(adapters().accounts.startDeviceLogin(NEVER));
    host.deviceFlowEnabled = true;
    expect(failure).toMatchObject(REFUSED);
    expect(failure.message).toContain("Device Flow must be explicitly enabled");
  });
});

test("webhooks are delivered signed", async () => {
  const received = Promise.withResolvers<{ readonly body: string; readonly headers: Headers }>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      received.resolve({ body: await request.text(), headers: request.headers });
      return new Response("ok");
    },
  });
  const url = `http://127.0.0.1:${server.port}/`;
  await host.deliver({ url, secret: "hook-secret" }, "push", { ref: "refs/heads/main" });
  const { body, headers } = await received.promise;
  const expected = new Bun.CryptoHasher("sha256", "hook-secret").update(body).digest("hex");
  expect(headers.get("x-hub-signature-256")).toBe(`sha256=${expected}`);
  expect(headers.get("x-github-event")).toBe("push");
  await server.stop(true);
});

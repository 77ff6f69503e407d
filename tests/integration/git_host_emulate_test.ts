import { afterAll, beforeAll, expect, test } from "bun:test";
import { createEmulator, type Emulator } from "emulate";
import { OctokitAccounts } from "../../adapters/githost/octokit_accounts.ts";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitHooks } from "../../adapters/githost/octokit_hooks.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { Secret } from "../../domain/secret.ts";
import { failureOf, NEVER, REFUSED } from "../contracts/git_host_stage.ts";

// A second emulation of the host, by others, so that both sides of a test cannot share one misunderstanding.

const TOKEN = new Secret("ghp_emulate_octo");
const ACCESS = { kind: "token", token: TOKEN } as const;
const SITE = { owner: "octo", repo: "site" };
const INSTALLATION = { kind: "installation", installationId: 77 } as const;

let host: Emulator;
let repositories: OctokitRepositories;
let accounts: OctokitAccounts;
let hooks: OctokitHooks;

beforeAll(async () => {
  const permissions = { contents: "write", metadata: "read", administration: "write" };
  const installations = [{ installation_id: 77, account: "acme", repository_selection: "all", permissions }];
  host = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: { [TOKEN.reveal()]: { login: "octo", scopes: ["repo", "admin:org"] } },
      github: {
        users: [{ login: "octo", name: "Octo" }],
        orgs: [{ login: "acme", name: "Acme", members: [{ login: "octo", role: "admin" }] }],
        repos: [
          { owner: "octo", name: "site", private: true, description: "A site", language: "Go", auto_init: true },
          { owner: "acme", name: "shop", private: true, auto_init: true },
        ],
        apps: [{ app_id: 5, slug: "slipway", name: "Slipway", permissions, installations }],
      },
    },
  });
  const privateKey = new Secret(host.generatedSecrets[0]!.value);
  const clients = new OctokitClients({ apiUrl: host.url, webUrl: host.url, app: { id: "5", privateKey } });
  repositories = new OctokitRepositories(clients);
  accounts = new OctokitAccounts(clients);
  hooks = new OctokitHooks(clients);
});
afterAll(async () => {
  await host?.close();
});

test("accounts and installations are read", async () => {
  expect(await accounts.user(TOKEN, NEVER)).toMatchObject({ login: "octo", type: "User" });
  expect((await accounts.list(ACCESS, NEVER)).map(({ login, type }) => [login, type])).toEqual([
    ["octo", "User"],
    ["acme", "Organization"],
  ]);
  expect(await accounts.installation(77, NEVER)).toMatchObject({ account: { login: "acme" }, suspended: false });
  expect(await accounts.installation(78, NEVER)).toBeUndefined();
});

test("repositories, branches and files are read", async () => {
  const found = await repositories.find(ACCESS, SITE, NEVER);
  expect(found).toMatchObject({ fullName: "octo/site", private: true, description: "A site", language: "Go" });
  expect((await repositories.list(ACCESS, NEVER)).map(({ fullName }) => fullName)).toContain("octo/site");
  expect(await repositories.branches(ACCESS, SITE, NEVER)).toMatchObject([{ name: "main", protected: false }]);
  const entries = await repositories.files(ACCESS, SITE, { path: "" }, NEVER);
  expect(entries).toMatchObject([{ path: "README.md", type: "file" }]);
  const { bytes } = await repositories.file(ACCESS, SITE, { path: "README.md", branch: "main" }, NEVER);
  expect(Buffer.from(bytes).toString()).toStartWith("# site");
  const missing = repositories.file(ACCESS, SITE, { path: "missing.txt" }, NEVER);
  expect(await failureOf(missing)).toMatchObject({ code: "file_not_found" });
});

test("repositories are created and removed", async () => {
  const created = await repositories.create(ACCESS, { name: "made", private: true }, NEVER);
  expect(created).toMatchObject({ fullName: "octo/made", private: true });
  expect(await failureOf(repositories.create(ACCESS, { name: "made", private: true }, NEVER))).toMatchObject(REFUSED);
  const inOrganization = await repositories.create(ACCESS, { owner: "acme", name: "made", private: true }, NEVER);
  expect(inOrganization).toMatchObject({ fullName: "acme/made" });
  await repositories.remove(ACCESS, { owner: "octo", repo: "made" }, NEVER);
  const removed = repositories.find(ACCESS, { owner: "octo", repo: "made" }, NEVER);
  expect(await failureOf(removed)).toMatchObject({ code: "repository_not_found" });
});

test("webhooks are registered, changed and removed", async () => {
  const settings = { url: "https://slipway.example.com/hook", events: ["push"], secret: new Secret("hook-secret") };
  const created = await hooks.create(ACCESS, SITE, settings, NEVER);
  expect(created).toMatchObject({ url: settings.url, events: ["push"], active: true });
  const changed = await hooks.change(ACCESS, SITE, created.id, { ...settings, events: ["push", "release"] }, NEVER);
  expect(await hooks.list(ACCESS, SITE, NEVER)).toEqual([changed]);
  await hooks.remove(ACCESS, SITE, created.id, NEVER);
  expect(await failureOf(hooks.remove(ACCESS, SITE, created.id, NEVER))).toMatchObject({ code: "webhook_not_found" });
});

test("the app reads the repositories that it is installed on, and makes limited tokens", async () => {
  const shop = { owner: "acme", repo: "shop" };
  expect(await repositories.find(INSTALLATION, shop, NEVER)).toMatchObject({ fullName: "acme/shop" });
  const { token, expiresAt } = await repositories.cloneToken(77, shop, NEVER);
  expect(expiresAt.getTime()).toBeGreaterThan(Date.now());
  const limited = { kind: "token", token } as const;
  expect(await repositories.files(limited, shop, { path: "" }, NEVER)).toHaveLength(1);
  const secret = new Secret("hook-secret");
  const hook = hooks.create(limited, shop, { url: "https://x.example.com/", events: ["push"], secret }, NEVER);
  expect(await failureOf(hook, token)).toMatchObject({ kind: "invalid" });
  const foreign = repositories.cloneToken(77, SITE, NEVER);
  // The real host does not tell apps about private repositories; this one says "Forbidden".
  expect((await failureOf(foreign)).code).toBeOneOf(["repository_not_found", "githost_refused"]);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitHooks } from "../../adapters/githost/octokit_hooks.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { Secret } from "../../domain/secret.ts";
import { failureOf, NEVER, REFUSED } from "../contracts/git_host_stage.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { git } from "../support/peers/git_server.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

const SHOP = { owner: "acme", repo: "shop" };

let host: EmulatedGitHost;
let folder: string;
let installationId: number;
let clients: OctokitClients;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
  host = await EmulatedGitHost.start();
  host.addAccount("acme", "Organization");
  host.addAccount("ada");
  host.addMember("acme", "ada");
  const branches = { main: { "README.md": "# Shop\n", "src/ä b.txt": "grün\n" }, next: { "README.md": "# Next\n" } };
  host.addRepository({ ...SHOP, name: "shop", branches });
  host.addRepository({ owner: "acme", name: "secret" });
  host.addRepository({ owner: "acme", name: "open", private: false });
  installationId = host.install("acme");
  clients = new OctokitClients(hostSettings(host));
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

function withToken(token: Secret, path: string): string {
  return `${host.origin.replace("://", `://x-access-token:${token.reveal()}@`)}/${path}.git`;
}

async function clone(url: string, name: string): Promise<string> {
  await git(folder, "clone", "--quiet", url, name);
  return join(folder, name);
}

async function tokenFor(name = SHOP): Promise<Secret> {
  const { token, expiresAt } = await new OctokitRepositories(clients).cloneToken(installationId, name, NEVER);
  expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000);
  return token;
}

test("a clone token clones its repository, with the commits that the API names", async () => {
  await host.makeReal("acme", "shop");
  const checkout = await clone(withToken(await tokenFor(), "acme/shop"), "checkout");
  expect(await readFile(join(checkout, "src/ä b.txt"), "utf8")).toBe("grün\n");
  const branches = await new OctokitRepositories(clients).branches(
    { kind: "installation", installationId },
    SHOP,
    NEVER,
  );
  for (const { name, sha } of branches) expect(await git(checkout, "rev-parse", `origin/${name}`)).toBe(sha);
});

test("a clone token reads nothing else, and changes nothing", async () => {
  const token = await tokenFor();
  const checkout = await clone(withToken(token, "acme/shop"), "read-only");
  await git(checkout, "commit", "--quiet", "--allow-empty", "--message", "x");
  await expect(git(checkout, "push", "--quiet")).rejects.toThrow("403");
  await expect(clone(withToken(token, "acme/secret"), "other")).rejects.toThrow("not found");
  const access = { kind: "token", token } as const;
  const [repositories, hooks] = [new OctokitRepositories(clients), new OctokitHooks(clients)];
  const hook = { url: "https://x.example.com/", events: ["push"], secret: new Secret("hook-secret") };
  expect(await failureOf(hooks.create(access, SHOP, hook, NEVER), token)).toMatchObject(REFUSED);
  expect(await failureOf(repositories.remove(access, SHOP, NEVER), token)).toMatchObject(REFUSED);
  const seen = await repositories
    .find(access, { owner: "acme", repo: "secret" }, NEVER)
    .catch((error: unknown) => error);
  expect(seen).toMatchObject({ code: "repository_not_found" });
});

test("private repositories need a token, public ones do not, and unknown tokens are refused", async () => {
  await expect(clone(`${host.origin}/acme/shop.git`, "anonymous")).rejects.toThrow();
  await clone(`${host.origin}/acme/open.git`, "open");
  await expect(clone(withToken(new Secret("unknown"), "acme/shop"), "unknown")).rejects.toThrow();
});

test("the API shows what was pushed", async () => {
  const access = { kind: "token", token: host.issueToken("ada") } as const;
  const checkout = await clone(withToken(access.token, "acme/shop"), "pushing");
  await Bun.write(join(checkout, "pushed.txt"), "new");
  await git(checkout, "add", "--all");
  await git(checkout, "commit", "--quiet", "--message", "x");
  const repositories = new OctokitRepositories(clients);
  await repositories.files(access, SHOP, { path: "" }, NEVER);
  await git(checkout, "push", "--quiet", "origin", "HEAD:main", "HEAD:refs/heads/pushed");
  const { bytes } = await repositories.file(access, SHOP, { path: "pushed.txt" }, NEVER);
  expect(Buffer.from(bytes).toString()).toBe("new");
  const listed = await repositories.files(access, SHOP, { path: "" }, NEVER);
  expect(listed.map(({ path }) => path)).toContain("pushed.txt");
  const sha = await git(checkout, "rev-parse", "HEAD");
  const branches = await repositories.branches(access, SHOP, NEVER);
  expect(branches.filter((branch) => branch.sha === sha).map(({ name }) => name)).toEqual(["main", "pushed"]);
});

test("submodules of private repositories can be cloned", async () => {
  host.addRepository({ owner: "acme", name: "part", branches: { main: { "part.txt": "inside" } } });
  const part = (await host.makeReal("acme", "part")).branches.get("main")!.sha;
  const settings = '[submodule "part"]\n\tpath = lib/part\n\turl = ../part.git\n';
  const files = { ".gitmodules": settings, "lib/part": { submodule: part } };
  host.addRepository({ owner: "acme", name: "whole", branches: { main: files } });
  const access = { kind: "token", token: host.issueToken("ada") } as const;
  const checkout = await clone(withToken(access.token, "acme/whole"), "whole");
  await git(checkout, "submodule", "--quiet", "update", "--init");
  expect(await readFile(join(checkout, "lib/part/part.txt"), "utf8")).toBe("inside");
  const whole = { owner: "acme", repo: "whole" };
  const listed = await new OctokitRepositories(clients).files(access, whole, { path: "lib" }, NEVER);
  expect(listed).toMatchObject([{ path: "lib/part", type: "submodule", sha: part }]);
});

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitCommitStatuses } from "../../adapters/githost/octokit_commit_statuses.ts";
import { OctokitPullRequestComments } from "../../adapters/githost/octokit_pull_request_comments.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import type { Secret } from "../../domain/secret.ts";
import { failureOf, NEVER, REFUSED } from "../contracts/git_host_stage.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { git } from "../support/peers/git_server.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

const SHOP = { owner: "acme", repo: "shop" };
const FORK = { owner: "eve", repo: "shop" };
const COMMENT = { body: "<!-- slipway --> Ready", marker: "<!-- slipway -->", commentId: null };

let host: EmulatedGitHost;
let folder: string;
let installationId: number;
let clients: OctokitClients;
let comments: OctokitPullRequestComments;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
  host = await EmulatedGitHost.start();
  host.addAccount("acme", "Organization");
  host.addAccount("ada");
  host.addAccount("eve");
  host.addMember("acme", "ada");
  const branches = { main: { "README.md": "# Shop\n" } };
  host.addRepository({ owner: "acme", name: "shop", branches });
  host.addRepository({ owner: "eve", name: "shop", branches });
  installationId = host.install("acme");
  clients = new OctokitClients(hostSettings(host));
  comments = new OctokitPullRequestComments(clients);
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  host.intercept = undefined;
});

async function cloneToken(): Promise<Secret> {
  return (await new OctokitRepositories(clients).cloneToken(installationId, SHOP, NEVER)).token;
}

function urlOf(token: Secret, path: string): string {
  return `${host.origin.replace("://", `://x-access-token:${token.reveal()}@`)}/${path}.git`;
}

/** Fetches one commit into a new checkout and returns its folder. */
async function fetched(sha: string): Promise<string> {
  const checkout = await mkdtemp(join(folder, "checkout-"));
  await git(checkout, "init", "--quiet");
  await git(checkout, "fetch", "--quiet", "--depth=1", urlOf(await cloneToken(), "acme/shop"), sha);
  await git(checkout, "checkout", "--quiet", "FETCH_HEAD");
  return checkout;
}

function sent(since: number, method: string): readonly string[] {
  return host.requests.slice(since).flatMap(({ line }) => (line.startsWith(method) ? [line] : []));
}

test("the commits of a pull request from a fork are fetched from the repository, and only from there", async () => {
  await host.commitTo(FORK, "feature", { "feature.txt": "one\n" });
  const { number, heads } = await host.openPullRequest(SHOP, { branch: "feature", fork: FORK });
  const first = heads[0]!;
  expect(await readFile(join(await fetched(first), "feature.txt"), "utf8")).toBe("one\n");
  const second = await host.pushToPullRequest(SHOP, number, { "feature.txt": "two\n" });
  const checkout = await fetched(second);
  expect(await readFile(join(checkout, "feature.txt"), "utf8")).toBe("two\n");
  expect(await readFile(join(checkout, "README.md"), "utf8")).toBe("# Shop\n");
  const refs = await git(checkout, "ls-remote", urlOf(await cloneToken(), "acme/shop"));
  expect(refs).toContain(`${second}\trefs/pull/${number}/head`);
  expect(refs).not.toContain("refs/heads/feature");
  expect(await readFile(join(await fetched(first), "feature.txt"), "utf8")).toBe("one\n");
  await expect(git(checkout, "ls-remote", urlOf(await cloneToken(), "eve/shop"))).rejects.toThrow("not found");
});

test("a push to a branch is shown by its pull requests", async () => {
  const tip = await host.commitTo(SHOP, "own", { "own.txt": "one\n" });
  const { number, heads } = await host.openPullRequest(SHOP, { branch: "own" });
  expect(heads).toEqual([tip]);
  const url = urlOf(host.issueToken("ada"), "acme/shop");
  await git(folder, "clone", "--quiet", "--branch", "own", url, "pushing");
  const checkout = join(folder, "pushing");
  await git(checkout, "commit", "--quiet", "--allow-empty", "--message", "more");
  await git(checkout, "push", "--quiet");
  const pushed = await git(checkout, "rev-parse", "HEAD");
  expect(await git(checkout, "ls-remote", url, `refs/pull/${number}/head`)).toStartWith(pushed);
  expect(heads).toEqual([tip, pushed]);
});

test("the commits of a pull request from a fork can have a status", async () => {
  const sha = await host.commitTo(FORK, "reported", { "reported.txt": "one\n" });
  const status = { state: "success", description: "Deployed", targetUrl: null, context: "slipway/shop" } as const;
  const put = () =>
    new OctokitCommitStatuses(clients).put({ kind: "installation", installationId }, SHOP, sha, status, NEVER);
  expect(await failureOf(put())).toMatchObject({ code: "commit_not_found" });
  await host.openPullRequest(SHOP, { branch: "reported", fork: FORK });
  await put();
  expect(host.statusesOf(SHOP, sha)).toEqual([status]);
});

test("a token that may only clone may not comment", async () => {
  const { number } = await host.openPullRequest(SHOP, { branch: "main" });
  const token = await cloneToken();
  const put = comments.put({ kind: "token", token }, SHOP, number, COMMENT, NEVER);
  expect(await failureOf(put, token)).toMatchObject(REFUSED);
  expect(host.commentsOf(SHOP, number)).toEqual([]);
});

test("a comment is changed by its id with one request", async () => {
  const access = { kind: "installation", installationId } as const;
  const { number } = await host.openPullRequest(SHOP, { branch: "main" });
  const commentId = await comments.put(access, SHOP, number, COMMENT, NEVER);
  const before = host.requests.length;
  await comments.put(access, SHOP, number, { ...COMMENT, commentId }, NEVER);
  expect(host.requests.slice(before).map(({ line }) => line)).toEqual([
    `PATCH /api/v3/repos/acme/shop/issues/comments/${commentId}`,
  ]);
});

test("a rate limit on a change adds no second comment", async () => {
  const access = { kind: "installation", installationId } as const;
  const { number } = await host.openPullRequest(SHOP, { branch: "main" });
  const commentId = await comments.put(access, SHOP, number, COMMENT, NEVER);
  host.intercept = ({ method }) => (method === "PATCH" ? { rateLimitedForSeconds: 300 } : undefined);
  const before = host.requests.length;
  for (const known of [null, commentId]) {
    const put = comments.put(access, SHOP, number, { ...COMMENT, commentId: known }, NEVER);
    expect(await failureOf(put)).toMatchObject({ kind: "unavailable", code: "githost_rate_limited" });
  }
  expect(sent(before, "POST")).toEqual([]);
  expect(host.commentsOf(SHOP, number)).toHaveLength(1);
});

test("comments with the marker that may not be changed are not tried without end", async () => {
  host.addRepository({ owner: "acme", name: "open", private: false });
  const open = { owner: "acme", repo: "open" };
  const { number } = await host.openPullRequest(open, { branch: "main" });
  for (let count = 0; count < 200; count++) host.addComment(open, number, { author: "acme", body: COMMENT.body });
  const before = host.requests.length;
  const access = { kind: "token", token: host.issueToken("eve") } as const;
  const id = await comments.put(access, open, number, COMMENT, NEVER);
  expect(sent(before, "PATCH")).toHaveLength(10);
  expect(host.commentsOf(open, number).at(-1)).toMatchObject({ id, author: "eve" });
});

test("an answer without the id of a comment is unusable", async () => {
  const { number } = await host.openPullRequest(SHOP, { branch: "main" });
  host.intercept = ({ method }) => (method === "POST" ? Response.json({ body: "x" }, { status: 201 }) : undefined);
  const put = comments.put({ kind: "token", token: host.issueToken("ada") }, SHOP, number, COMMENT, NEVER);
  expect(await failureOf(put)).toMatchObject({ kind: "remote_failed", code: "githost_failed" });
});

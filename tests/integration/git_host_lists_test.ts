import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { failureOf, NEVER } from "../contracts/git_host_stage.ts";
import { EmulatedGitHost, type Interception } from "../support/peers/emulated_git_host.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

const REPOSITORIES = Array.from({ length: 1_500 }, (_, index) => `big/repository-${index}`);
const BRANCHES = Array.from({ length: 3_000 }, (_, index) => `branch/${index}`);
const BRANCHY = { owner: "branchy", repo: "all" };

let host: EmulatedGitHost;
let access: HostAccess;
let repositories: OctokitRepositories;

beforeAll(async () => {
  host = await EmulatedGitHost.start();
  for (const login of ["big", "branchy", "small"]) host.addAccount(login);
  for (const fullName of REPOSITORIES) host.addRepository({ owner: "big", name: fullName.slice("big/".length) });
  const branches = Object.fromEntries(BRANCHES.map((name) => [name, {}]));
  host.addRepository({ owner: "branchy", name: "all", private: false, branches });
  access = { kind: "token", token: host.issueToken("big") };
});
beforeEach(() => {
  repositories = new OctokitRepositories(new OctokitClients(hostSettings(host)));
  host.intercept = undefined;
  host.requests.length = 0;
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
});

const namesIn = async (by: HostAccess = access) => (await repositories.list(by, NEVER)).map(({ fullName }) => fullName);
const statuses = () => new Set(host.requests.map(({ status }) => status));

/** Answers one page once in another way. */
function once(page: string, respond: () => Response): Interception {
  let isDone = false;
  return (_, url) => {
    if (isDone || url.searchParams.get("page") !== page) return undefined;
    isDone = true;
    return respond();
  };
}

function limited(status: number, headers: Record<string, string>): Response {
  return Response.json({ message: "You have exceeded a limit" }, { status, headers });
}

test("1,500 repositories are listed whole, in the order of the host", async () => {
  expect(await namesIn()).toEqual(REPOSITORIES.toSorted());
  const installation = { kind: "installation", installationId: host.install("big") } as const;
  expect((await namesIn(installation)).toSorted()).toEqual(REPOSITORIES.toSorted());
});

test("3,000 branches are listed whole", async () => {
  const found = await repositories.branches(access, BRANCHY, NEVER);
  expect(found.map(({ name }) => name)).toEqual(BRANCHES.toSorted());
});

test("a list that did not change is not sent again, and a change at its end is noticed", async () => {
  const before = await namesIn();
  host.requests.length = 0;
  expect(await namesIn()).toEqual(before);
  expect([...statuses()]).toContain(304);
  expect(host.requests.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  host.addRepository({ owner: "big", name: "zzz-last" });
  expect(await namesIn()).toEqual([...before, "big/zzz-last"]);
  for (const name of ["zzz-last", "repository-998", "repository-999"])
    await repositories.remove(access, { owner: "big", repo: name }, NEVER);
  expect(await namesIn()).toEqual(before.slice(0, -2));
  for (const name of ["repository-998", "repository-999"]) host.addRepository({ owner: "big", name });
  expect(await namesIn()).toEqual(before);
});

test("what one login was sent is never shown to another", async () => {
  await namesIn();
  await repositories.branches(access, BRANCHY, NEVER);
  const other = { kind: "token", token: host.issueToken("small") } as const;
  expect(await namesIn(other)).toEqual([]);
  host.requests.length = 0;
  await repositories.branches(other, BRANCHY, NEVER);
  expect([...statuses()]).toEqual([200]);
  host.revokeToken(other.token);
  expect(await failureOf(repositories.branches(other, BRANCHY, NEVER), other.token)).toMatchObject({
    code: "githost_login_expired",
  });
});

test.each([
  ["primary", () => limited(403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${Date.now() / 1_000 + 1}` })],
  ["secondary", () => limited(403, { "retry-after": "1" })],
  ["new", () => limited(429, { "retry-after": "1" })],
] as const)(
  "a %s rate limit in the middle of a list is waited out",
  async (_, respond) => {
    host.intercept = once("7", respond);
    expect(await namesIn()).toHaveLength(1_500);
    expect(host.requests.filter(({ line }) => line.includes("page=7"))).toHaveLength(2);
  },
  30_000,
);

test.each([
  ["40 s", 403, { "retry-after": "40" }, 40],
  ["an hour", 403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${Date.now() / 1_000 + 3_600}` }, 3_600],
  ["an unknown time", 429, {}, 60],
] as const)("a rate limit of %s in the middle of a list fails instead of shortening it", async (...given) => {
  const [, status, headers, seconds] = given;
  host.intercept = once("7", () => limited(status, headers));
  const failure = await failureOf(namesIn());
  expect(failure).toMatchObject({ kind: "unavailable", code: "githost_rate_limited" });
  expect(failure.retryAfter).toBeWithin(seconds - 60, seconds + 60);
});

test.each(["html", "error", "truncated", "empty"] as const)(
  "a page that is %s fails instead of shortening the list",
  async (fault) => {
    host.intercept = (_, url) => (url.searchParams.get("page") === "7" ? fault : undefined);
    expect(await failureOf(namesIn())).toMatchObject({ kind: "remote_failed", code: "githost_failed" });
  },
);

test("a page whose first answers are errors of the host is asked for again", async () => {
  let left = 2;
  host.intercept = (_, url) => (url.searchParams.get("page") === "7" && left-- > 0 ? "error" : undefined);
  expect(await namesIn()).toHaveLength(1_500);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CommitStatus } from "../../domain/githost/commit_status.ts";
import { Secret } from "../../domain/secret.ts";
import type { CommitStatuses } from "../../ports/githost/commit_statuses.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { expectFaults, failureOf, type GitHostStage, LOGIN_EXPIRED, NEVER, REFUSED } from "./git_host_stage.ts";

const NOT_FOUND = { kind: "not_found", code: "repository_not_found" };
const PENDING: CommitStatus = {
  state: "pending",
  description: "Building",
  targetUrl: null,
  context: "slipway/shop",
};

/** Contract tests for `CommitStatuses` adapters. */
export function commitStatusesContract(name: string, open: () => Promise<GitHostStage<CommitStatuses>>) {
  describe(`CommitStatuses contract: ${name}`, () => {
    let stage: GitHostStage<CommitStatuses>;
    let statuses: CommitStatuses;
    let token: Secret;
    let ada: HostAccess;
    let sha: string;
    const site = { owner: "ada", repo: "site" };
    const everyones = { owner: "ada", repo: "open" };

    beforeAll(async () => {
      stage = await open();
      statuses = stage.adapters;
      for (const login of ["ada", "bob"]) await stage.host.addAccount(login);
      await stage.host.addAccount("acme", "Organization");
      await stage.host.addRepository({ owner: "ada", name: "site" });
      await stage.host.addRepository({ owner: "ada", name: "open", private: false });
      await stage.host.addRepository({ owner: "acme", name: "shop" });
      token = await stage.host.issueToken("ada");
      ada = { kind: "token", token };
      sha = await stage.host.tipOf(site, "main");
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });

    test("put() sets every state, with and without an address", async () => {
      const all: readonly CommitStatus[] = [
        PENDING,
        { ...PENDING, state: "success", description: "Deployed", targetUrl: "https://shop.example.com/" },
        { ...PENDING, state: "failure", description: "Cannot build: command failed (é ✓)" },
        { ...PENDING, state: "error", description: "x".repeat(140), context: "slipway/shop/preview" },
      ];
      for (const status of all) await statuses.put(ada, site, sha, status, NEVER);
      expect(await stage.host.statusesOf(site, sha)).toEqual(all);
    });

    test("put() sets the status as the app, on repositories that it is installed on", async () => {
      const app = { kind: "installation", installationId: await stage.host.install("acme", ["shop"]) } as const;
      const shop = { owner: "acme", repo: "shop" };
      const tip = await stage.host.tipOf(shop, "main");
      await statuses.put(app, shop, tip, PENDING, NEVER);
      expect(await stage.host.statusesOf(shop, tip)).toEqual([PENDING]);
      expect(await failureOf(statuses.put(app, site, sha, PENDING, NEVER))).toMatchObject(NOT_FOUND);
      await stage.host.suspend(app.installationId, true);
      expect(await failureOf(statuses.put(app, shop, tip, PENDING, NEVER))).toMatchObject(REFUSED);
      await stage.host.uninstall(app.installationId);
      expect(await failureOf(statuses.put(app, shop, tip, PENDING, NEVER))).toMatchObject(LOGIN_EXPIRED);
    });

    test("put() is refused to those who may read a repository, but not set statuses", async () => {
      const bob = { kind: "token", token: await stage.host.issueToken("bob") } as const;
      const limited = await stage.host.issueToken("ada", { scopes: ["read:org"] });
      const tip = await stage.host.tipOf(everyones, "main");
      expect(await failureOf(statuses.put(bob, everyones, tip, PENDING, NEVER))).toMatchObject(REFUSED);
      const limitedPut = statuses.put({ kind: "token", token: limited }, everyones, tip, PENDING, NEVER);
      expect(await failureOf(limitedPut, limited)).toMatchObject(REFUSED);
      expect(await stage.host.statusesOf(everyones, tip)).toEqual([]);
      const enough = await stage.host.issueToken("ada", { scopes: ["repo:status"] });
      await statuses.put({ kind: "token", token: enough }, everyones, tip, PENDING, NEVER);
      expect(await stage.host.statusesOf(everyones, tip)).toEqual([PENDING]);
    });

    test("put() passes on why the host refuses a status", async () => {
      const long = { ...PENDING, description: "x".repeat(141) };
      const failure = await failureOf(statuses.put(ada, site, sha, long, NEVER), token);
      expect(failure).toMatchObject(REFUSED);
      expect(failure.message).toContain("description is too long");
    });

    test("put() does not find a commit that the repository does not have", async () => {
      const missing = statuses.put(ada, site, "ab".repeat(20), PENDING, NEVER);
      expect(await failureOf(missing)).toMatchObject({ kind: "not_found", code: "commit_not_found" });
    });

    test("a repository that is missing, hidden or not a name is not found", async () => {
      const bob = { kind: "token", token: await stage.host.issueToken("bob") } as const;
      for (const [access, named] of [
        [bob, site],
        [ada, { owner: "ada", repo: "missing" }],
        [ada, { owner: "ada", repo: ".." }],
        [ada, { owner: "", repo: "site" }],
      ] as const) {
        expect(await failureOf(statuses.put(access, named, sha, PENDING, NEVER))).toMatchObject(NOT_FOUND);
      }
    });

    test("a token that the host does not accept has expired", async () => {
      const bad = new Secret("never-issued-token");
      const put = statuses.put({ kind: "token", token: bad }, site, sha, PENDING, NEVER);
      expect(await failureOf(put, bad)).toMatchObject(LOGIN_EXPIRED);
    });

    test("put() fails with a host that is down or limits its rate, and ends when aborted", async () => {
      await expectFaults(stage.host, (signal) => statuses.put(ada, site, sha, PENDING, signal), token);
    });
  });
}

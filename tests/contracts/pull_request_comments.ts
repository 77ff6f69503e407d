import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import type { PullRequestComment, PullRequestComments } from "../../ports/githost/pull_request_comments.ts";
import { expectFaults, failureOf, type GitHostStage, LOGIN_EXPIRED, NEVER, REFUSED } from "./git_host_stage.ts";

const NOT_FOUND = { kind: "not_found", code: "repository_not_found" };
const NO_PULL = { kind: "not_found", code: "pull_request_not_found" };
const MARKER = "<!-- slipway prj_1 -->";

function commentOf(text: string, commentId: number | null = null): PullRequestComment {
  return { body: `${MARKER}\n${text}`, marker: MARKER, commentId };
}

/** Contract tests for `PullRequestComments` adapters. */
export function pullRequestCommentsContract(name: string, open: () => Promise<GitHostStage<PullRequestComments>>) {
  describe(`PullRequestComments contract: ${name}`, () => {
    let stage: GitHostStage<PullRequestComments>;
    let comments: PullRequestComments;
    let token: Secret;
    let ada: HostAccess;
    let bob: HostAccess;
    /** A new pull request of each repository for every test. */
    let number: number;
    let openNumber: number;
    const site = { owner: "ada", repo: "site" };
    const everyones = { owner: "ada", repo: "open" };

    beforeAll(async () => {
      stage = await open();
      comments = stage.adapters;
      for (const login of ["ada", "bob"]) await stage.host.addAccount(login);
      await stage.host.addAccount("acme", "Organization");
      const branches = { main: { "README.md": "# Site\n" }, change: { "README.md": "# New\n" } };
      await stage.host.addRepository({ owner: "ada", name: "site", branches });
      await stage.host.addRepository({ owner: "ada", name: "open", branches, private: false });
      await stage.host.addRepository({ owner: "bob", name: "open", branches, private: false });
      await stage.host.addRepository({ owner: "acme", name: "shop", branches });
      token = await stage.host.issueToken("ada");
      ada = { kind: "token", token };
      bob = { kind: "token", token: await stage.host.issueToken("bob") };
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      number = (await stage.host.openPullRequest(site, { branch: "change" })).number;
      const fork = { owner: "bob", repo: "open" };
      openNumber = (await stage.host.openPullRequest(everyones, { branch: "change", fork })).number;
    });

    /** Adds comments of others, without the marker. */
    async function addOthers(count: number): Promise<void> {
      for (let index = 0; index < count; index++)
        await stage.host.addComment(site, number, { author: "bob", body: `Remark ${index}` });
    }

    test("put() adds a comment, and changes it by its id", async () => {
      const id = await comments.put(ada, site, number, commentOf("**Building** (é ✓)"), NEVER);
      expect(await stage.host.commentsOf(site, number)).toMatchObject([
        { id, author: "ada", body: `${MARKER}\n**Building** (é ✓)` },
      ]);
      expect(await comments.put(ada, site, number, commentOf("Ready", id), NEVER)).toBe(id);
      expect(await stage.host.commentsOf(site, number)).toMatchObject([
        { id, author: "ada", body: `${MARKER}\nReady` },
      ]);
    });

    test("put() finds the oldest comment that begins with the marker if the id is not known", async () => {
      await addOthers(1);
      await stage.host.addComment(site, number, { author: "bob", body: `Quote: ${MARKER}` });
      const id = await comments.put(ada, site, number, commentOf("Building"), NEVER);
      const later = await stage.host.addComment(site, number, { author: "ada", body: `Quote: ${MARKER}` });
      expect(await comments.put(ada, site, number, commentOf("Ready"), NEVER)).toBe(id);
      const all = await stage.host.commentsOf(site, number);
      expect(all.map(({ body }) => body)).toEqual([
        "Remark 0",
        `Quote: ${MARKER}`,
        `${MARKER}\nReady`,
        `Quote: ${MARKER}`,
      ]);
      expect(all.at(-1)?.id).toBe(later);
    });

    test("put() searches the comments of all pages, and leaves those of others alone", async () => {
      await addOthers(230);
      const id = await stage.host.addComment(site, number, { author: "ada", body: `${MARKER}\nBuilding` });
      await addOthers(10);
      const before = await stage.host.commentsOf(site, number);
      expect(await comments.put(ada, site, number, commentOf("Ready"), NEVER)).toBe(id);
      const expected = before.map((each) => (each.id === id ? { ...each, body: `${MARKER}\nReady` } : each));
      expect(await stage.host.commentsOf(site, number)).toEqual(expected);
      await addOthers(80);
      expect(await comments.put(ada, site, number, commentOf("Ready again"), NEVER)).toBe(id);
      expect(await stage.host.commentsOf(site, number)).toHaveLength(before.length + 80);
    });

    test("put() adds a comment beside ten of others, which stay as they are", async () => {
      await addOthers(10);
      const before = await stage.host.commentsOf(site, number);
      const id = await comments.put(ada, site, number, commentOf("Ready"), NEVER);
      const after = await stage.host.commentsOf(site, number);
      expect(after.slice(0, 10)).toEqual([...before]);
      expect(after.slice(10)).toMatchObject([{ id, author: "ada", body: `${MARKER}\nReady` }]);
    });

    test("put() adds a comment again that somebody has deleted", async () => {
      const id = await comments.put(ada, site, number, commentOf("Building"), NEVER);
      await addOthers(1);
      await stage.host.removeComment(site, id);
      const next = await comments.put(ada, site, number, commentOf("Ready", id), NEVER);
      expect(next).not.toBe(id);
      const all = await stage.host.commentsOf(site, number);
      expect(all.map(({ body }) => body)).toEqual(["Remark 0", `${MARKER}\nReady`]);
      await stage.host.removeComment(site, next);
      const last = await comments.put(ada, site, number, commentOf("Ready"), NEVER);
      expect((await stage.host.commentsOf(site, number)).at(-1)).toMatchObject({ id: last, author: "ada" });
    });

    test("put() keeps the comments of pull requests apart", async () => {
      const other = (await stage.host.openPullRequest(site, { branch: "change" })).number;
      const id = await comments.put(ada, site, number, commentOf("One"), NEVER);
      expect(await comments.put(ada, site, other, commentOf("Two"), NEVER)).not.toBe(id);
      expect(await stage.host.commentsOf(site, number)).toMatchObject([{ body: `${MARKER}\nOne` }]);
      expect(await stage.host.commentsOf(site, other)).toMatchObject([{ body: `${MARKER}\nTwo` }]);
    });

    test("put() adds a comment where it may not change the one with the marker, or with the id", async () => {
      const ofAda = await comments.put(ada, everyones, openNumber, commentOf("From Ada"), NEVER);
      const ofBob = await comments.put(bob, everyones, openNumber, commentOf("From Bob"), NEVER);
      expect(await stage.host.commentsOf(everyones, openNumber)).toMatchObject([
        { id: ofAda, author: "ada", body: `${MARKER}\nFrom Ada` },
        { id: ofBob, author: "bob", body: `${MARKER}\nFrom Bob` },
      ]);
      expect(await comments.put(bob, everyones, openNumber, commentOf("Again"), NEVER)).toBe(ofBob);
      expect(await comments.put(bob, everyones, openNumber, commentOf("And again", ofAda), NEVER)).toBe(ofBob);
      const all = await stage.host.commentsOf(everyones, openNumber);
      expect(all.map(({ body }) => body)).toEqual([`${MARKER}\nFrom Ada`, `${MARKER}\nAnd again`]);
    });

    test("put() comments as the app, on repositories that it is installed on", async () => {
      const app = { kind: "installation", installationId: await stage.host.install("acme", ["shop"]) } as const;
      const shop = { owner: "acme", repo: "shop" };
      const pull = (await stage.host.openPullRequest(shop, { branch: "change" })).number;
      const put = (commentId: number | null = null) =>
        comments.put(app, shop, pull, commentOf("Ready", commentId), NEVER);
      const id = await put();
      expect(await put(id)).toBe(id);
      expect(await put()).toBe(id);
      expect(await stage.host.commentsOf(shop, pull)).toMatchObject([
        { id, author: "slipway[bot]", body: `${MARKER}\nReady` },
      ]);
      expect(await failureOf(comments.put(app, site, number, commentOf("Ready"), NEVER))).toMatchObject(NOT_FOUND);
      const elsewhere = comments.put(app, everyones, openNumber, commentOf("Ready"), NEVER);
      expect(await failureOf(elsewhere)).toMatchObject(REFUSED);
      await stage.host.suspend(app.installationId, true);
      for (const known of [null, id]) expect(await failureOf(put(known))).toMatchObject(REFUSED);
      await stage.host.uninstall(app.installationId);
      for (const known of [null, id]) expect(await failureOf(put(known))).toMatchObject(LOGIN_EXPIRED);
    });

    test("put() is refused to those who may read a repository, but not comment", async () => {
      const limited = await stage.host.issueToken("ada", { scopes: ["read:org"] });
      const access = { kind: "token", token: limited } as const;
      const id = await stage.host.addComment(everyones, openNumber, { author: "ada", body: `${MARKER}\nBuilding` });
      for (const known of [null, id]) {
        const put = comments.put(access, everyones, openNumber, commentOf("Ready", known), NEVER);
        expect(await failureOf(put, limited)).toMatchObject(REFUSED);
      }
      expect(await stage.host.commentsOf(everyones, openNumber)).toMatchObject([{ body: `${MARKER}\nBuilding` }]);
    });

    test("put() passes on why the host refuses a comment", async () => {
      const failure = await failureOf(comments.put(ada, site, number, commentOf("x".repeat(65_536)), NEVER), token);
      expect(failure).toMatchObject(REFUSED);
      expect(failure.message).toContain("body is too long");
      expect(await stage.host.commentsOf(site, number)).toEqual([]);
    });

    test("put() does not find a pull request that the repository does not have", async () => {
      for (const missing of [999_999, 0, -1, 1.5, Number.NaN]) {
        expect(await failureOf(comments.put(ada, site, missing, commentOf("Ready"), NEVER))).toMatchObject(NO_PULL);
        expect(await failureOf(comments.put(ada, site, missing, commentOf("Ready", 7), NEVER))).toMatchObject(NO_PULL);
      }
    });

    test("a repository that is missing, hidden or not a name is not found", async () => {
      for (const [access, named] of [
        [bob, site],
        [ada, { owner: "ada", repo: "missing" }],
        [ada, { owner: "ada", repo: ".." }],
        [ada, { owner: "", repo: "site" }],
      ] as const) {
        for (const known of [null, 7])
          expect(await failureOf(comments.put(access, named, number, commentOf("Ready", known), NEVER))).toMatchObject(
            NOT_FOUND,
          );
      }
    });

    test("a token that the host does not accept has expired", async () => {
      const bad = new Secret("never-issued-token");
      const put = comments.put({ kind: "token", token: bad }, site, number, commentOf("Ready"), NEVER);
      expect(await failureOf(put, bad)).toMatchObject(LOGIN_EXPIRED);
    });

    test("put() fails with a host that is down or limits its rate, and ends when aborted", async () => {
      const id = await comments.put(ada, site, number, commentOf("Building"), NEVER);
      for (const known of [null, id])
        await expectFaults(
          stage.host,
          (signal) => comments.put(ada, site, number, commentOf("Ready", known), signal),
          token,
        );
      expect(await stage.host.commentsOf(site, number)).toMatchObject([{ id, body: `${MARKER}\nBuilding` }]);
    });
  });
}

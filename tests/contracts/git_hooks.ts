import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { GitHooks } from "../../ports/githost/git_hooks.ts";
import type { HostAccess } from "../../ports/githost/host_access.ts";
import { expectFaults, failureOf, type GitHostStage, LOGIN_EXPIRED, NEVER, REFUSED } from "./git_host_stage.ts";

const NOT_FOUND = { kind: "not_found", code: "repository_not_found" };
const HOOK_NOT_FOUND = { kind: "not_found", code: "webhook_not_found" };

/** Contract tests for `GitHooks` adapters. */
export function gitHooksContract(name: string, open: () => Promise<GitHostStage<GitHooks>>) {
  describe(`GitHooks contract: ${name}`, () => {
    let stage: GitHostStage<GitHooks>;
    let hooks: GitHooks;
    let token: Secret;
    let ada: HostAccess;
    const site = { owner: "ada", repo: "site" };
    const secret = new Secret("hook-secret-0123456789");
    const settings = (url: string, events: readonly string[] = ["push"]) => ({ url, events, secret });

    beforeAll(async () => {
      stage = await open();
      hooks = stage.adapters;
      for (const login of ["ada", "bob"]) await stage.host.addAccount(login);
      await stage.host.addAccount("acme", "Organization");
      await stage.host.addMember("acme", "ada", "admin");
      await stage.host.addMember("acme", "bob", "member");
      await stage.host.addRepository({ owner: "ada", name: "site" });
      await stage.host.addRepository({ owner: "ada", name: "busy" });
      await stage.host.addRepository({ owner: "acme", name: "shop" });
      token = await stage.host.issueToken("ada");
      ada = { kind: "token", token };
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });

    test("create(), change() and remove() manage a webhook that list() shows", async () => {
      expect(await hooks.list(ada, site, NEVER)).toEqual([]);
      const created = await hooks.create(ada, site, settings("https://slipway.example.com/hook"), NEVER);
      const expected = {
        id: expect.any(Number),
        url: "https://slipway.example.com/hook",
        events: ["push"],
        active: true,
      };
      expect(created as object).toEqual(expected);
      expect(await hooks.list(ada, site, NEVER)).toEqual([created]);
      const moved = settings("https://new.example.com/hook", ["push", "pull_request"]);
      const changed = await hooks.change(ada, site, created.id, moved, NEVER);
      expect({ ...changed, events: changed.events.toSorted() }).toEqual({
        id: created.id,
        url: moved.url,
        events: ["pull_request", "push"],
        active: true,
      });
      expect(await hooks.list(ada, site, NEVER)).toEqual([changed]);
      await hooks.remove(ada, site, created.id, NEVER);
      expect(await hooks.list(ada, site, NEVER)).toEqual([]);
    });

    test("the app manages the webhooks of repositories that it is installed on", async () => {
      const app = { kind: "installation", installationId: await stage.host.install("acme", ["shop"]) } as const;
      const shop = { owner: "acme", repo: "shop" };
      const { id } = await hooks.create(app, shop, settings("https://app.example.com/hook"), NEVER);
      expect((await hooks.list(app, shop, NEVER)).map((hook) => hook.id)).toEqual([id]);
      await hooks.remove(app, shop, id, NEVER);
      expect(await failureOf(hooks.list(app, site, NEVER))).toMatchObject(NOT_FOUND);
    });

    test("list() returns the webhooks of every page", async () => {
      const busy = { owner: "ada", repo: "busy" };
      const urls = Array.from({ length: 115 }, (_, index) => `https://hooks.example.com/${index}`);
      for (const url of urls) await hooks.create(ada, busy, settings(url), NEVER);
      expect((await hooks.list(ada, busy, NEVER)).map(({ url }) => url).toSorted()).toEqual(urls.toSorted());
    });

    test("create() passes on why the host refuses a webhook", async () => {
      const twice = settings("https://twice.example.com/hook");
      const { id } = await hooks.create(ada, site, twice, NEVER);
      const failure = await failureOf(hooks.create(ada, site, twice, NEVER), token, secret);
      expect(failure).toMatchObject(REFUSED);
      expect(failure.message).toContain("already exists");
      await hooks.remove(ada, site, id, NEVER);
    });

    test("change() and remove() do not find a missing webhook", async () => {
      const changing = hooks.change(ada, site, 987_654, settings("https://x.example.com/"), NEVER);
      expect(await failureOf(changing)).toMatchObject(HOOK_NOT_FOUND);
      expect(await failureOf(hooks.remove(ada, site, 987_654, NEVER))).toMatchObject(HOOK_NOT_FOUND);
    });

    test("a repository that is missing, hidden or not a name is not found", async () => {
      const bob = { kind: "token", token: await stage.host.issueToken("bob") } as const;
      for (const [access, named] of [
        [bob, site],
        [ada, { owner: "ada", repo: "missing" }],
        [ada, { owner: "ada", repo: ".." }],
        [ada, { owner: "", repo: "site" }],
      ] as const) {
        for (const call of [
          () => hooks.list(access, named, NEVER),
          () => hooks.create(access, named, settings("https://x.example.com/"), NEVER),
          () => hooks.change(access, named, 1, settings("https://x.example.com/"), NEVER),
          () => hooks.remove(access, named, 1, NEVER),
        ]) {
          expect(await failureOf(call(), secret)).toMatchObject(NOT_FOUND);
        }
      }
    });

    test("those who may not manage webhooks are refused", async () => {
      const bob = { kind: "token", token: await stage.host.issueToken("bob") } as const;
      const shop = { owner: "acme", repo: "shop" };
      expect(await failureOf(hooks.list(bob, shop, NEVER))).toMatchObject(REFUSED);
      const creating = hooks.create(bob, shop, settings("https://x.example.com/"), NEVER);
      expect(await failureOf(creating, secret)).toMatchObject(REFUSED);
    });

    test("an installation that is suspended is refused, and one that was removed has expired", async () => {
      const id = await stage.host.install("acme");
      const access = { kind: "installation", installationId: id } as const;
      const shop = { owner: "acme", repo: "shop" };
      await stage.host.suspend(id, true);
      expect(await failureOf(hooks.list(access, shop, NEVER))).toMatchObject(REFUSED);
      await stage.host.uninstall(id);
      expect(await failureOf(hooks.list(access, shop, NEVER))).toMatchObject(LOGIN_EXPIRED);
    });

    test("a token that the host does not accept has expired", async () => {
      const bad = new Secret("never-issued-token");
      const access = { kind: "token", token: bad } as const;
      for (const call of [
        () => hooks.list(access, site, NEVER),
        () => hooks.create(access, site, settings("https://x.example.com/"), NEVER),
        () => hooks.change(access, site, 1, settings("https://x.example.com/"), NEVER),
        () => hooks.remove(access, site, 1, NEVER),
      ]) {
        expect(await failureOf(call(), bad, secret)).toMatchObject(LOGIN_EXPIRED);
      }
    });

    test("every method fails with a host that is down or limits its rate, and ends when aborted", async () => {
      for (const call of [
        (signal: AbortSignal) => hooks.list(ada, site, signal),
        (signal: AbortSignal) => hooks.create(ada, site, settings("https://x.example.com/"), signal),
        (signal: AbortSignal) => hooks.change(ada, site, 1, settings("https://x.example.com/"), signal),
        (signal: AbortSignal) => hooks.remove(ada, site, 1, signal),
      ]) {
        await expectFaults(stage.host, call, token, secret);
      }
      expect(await hooks.list(ada, site, NEVER)).toEqual([]);
    });
  });
}

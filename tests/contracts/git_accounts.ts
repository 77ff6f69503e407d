import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { GitAccount } from "../../domain/githost/repository.ts";
import { Secret } from "../../domain/secret.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import { expectFaults, failureOf, type GitHostStage, LOGIN_EXPIRED, NEVER } from "./git_host_stage.ts";

function account(login: string, type: GitAccount["type"]): GitAccount {
  return { login, id: expect.any(Number), type, avatarUrl: expect.stringMatching(/^https?:/) };
}

/** Contract tests for `GitAccounts` adapters. */
export function gitAccountsContract(name: string, open: () => Promise<GitHostStage<GitAccounts>>) {
  describe(`GitAccounts contract: ${name}`, () => {
    let stage: GitHostStage<GitAccounts>;
    let accounts: GitAccounts;
    let token: Secret;

    beforeAll(async () => {
      stage = await open();
      accounts = stage.adapters;
      for (const login of ["ada", "bob"]) await stage.host.addAccount(login);
      for (const login of ["acme", "other"]) await stage.host.addAccount(login, "Organization");
      await stage.host.addMember("acme", "ada", "admin");
      token = await stage.host.issueToken("ada", { scopes: ["repo", "read:org"] });
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
    });

    const logged = async () =>
      (await accounts.exchangeCode(await stage.host.authorize("ada"), stage.redirectUrl, NEVER)).token;

    test("user() returns the user of a token, with the token's scopes", async () => {
      const { scopes, ...user } = await accounts.user(token, NEVER);
      expect(user).toEqual(account("ada", "User"));
      expect(scopes.toSorted()).toEqual(["read:org", "repo"]);
      expect(await accounts.user(await logged(), NEVER)).toMatchObject({ login: "ada", scopes: [] });
    });

    test("user() and list() reject a token that the host does not accept", async () => {
      const revoked = await stage.host.issueToken("ada");
      await stage.host.revokeToken(revoked);
      for (const bad of [revoked, new Secret("never-issued-token")]) {
        expect(await failureOf(accounts.user(bad, NEVER), bad)).toMatchObject(LOGIN_EXPIRED);
        expect(await failureOf(accounts.list({ kind: "token", token: bad }, NEVER), bad)).toMatchObject(LOGIN_EXPIRED);
        expect(await failureOf(accounts.installationsOf(bad, NEVER), bad)).toMatchObject(LOGIN_EXPIRED);
      }
    });

    test("list() returns the user and its organizations", async () => {
      expect(await accounts.list({ kind: "token", token }, NEVER)).toEqual([
        account("ada", "User"),
        account("acme", "Organization"),
      ]);
    });

    test("list() returns the organizations of every page", async () => {
      await stage.host.addAccount("joiner");
      const names = Array.from({ length: 120 }, (_, index) => `organization-${index}`);
      for (const each of names) {
        await stage.host.addAccount(each, "Organization");
        await stage.host.addMember(each, "joiner", "member");
      }
      const listed = await accounts.list({ kind: "token", token: await stage.host.issueToken("joiner") }, NEVER);
      expect(listed.map(({ login }) => login).toSorted()).toEqual(["joiner", ...names].toSorted());
    });

    test("list() returns the account of an installation", async () => {
      const [user, organization] = [await stage.host.install("bob"), await stage.host.install("acme")];
      expect(await accounts.list({ kind: "installation", installationId: user }, NEVER)).toEqual([
        account("bob", "User"),
      ]);
      expect(await accounts.list({ kind: "installation", installationId: organization }, NEVER)).toEqual([
        account("acme", "Organization"),
      ]);
      await stage.host.uninstall(user);
      const removed = accounts.list({ kind: "installation", installationId: user }, NEVER);
      expect(await failureOf(removed)).toMatchObject(LOGIN_EXPIRED);
    });

    test("installation() describes an installation, suspended or not", async () => {
      const id = await stage.host.install("acme");
      const expected = { id, account: account("acme", "Organization"), createdAt: expect.any(Date) };
      expect(await accounts.installation(id, NEVER)).toEqual({ ...expected, suspended: false });
      await stage.host.suspend(id, true);
      expect(await accounts.installation(id, NEVER)).toEqual({ ...expected, suspended: true });
      await stage.host.uninstall(id);
      expect(await accounts.installation(id, NEVER)).toBeUndefined();
      expect(await accounts.installation(987_654_321, NEVER)).toBeUndefined();
    });

    test("installationsOf() returns the installations that the user can reach", async () => {
      const own = [await stage.host.install("ada"), await stage.host.install("acme")];
      const foreign = [await stage.host.install("other"), await stage.host.install("bob")];
      const found = await accounts.installationsOf(await logged(), NEVER);
      expect(found).toEqual(expect.arrayContaining(own));
      for (const id of foreign) expect(found).not.toContain(id);
    });

    test("installationsOf() returns the installations of every page", async () => {
      await stage.host.addAccount("installer");
      const ids: number[] = [];
      for (let index = 0; index < 120; index++) {
        await stage.host.addAccount(`installed-${index}`, "Organization");
        await stage.host.addMember(`installed-${index}`, "installer", "admin");
        ids.push(await stage.host.install(`installed-${index}`));
      }
      const code = await stage.host.authorize("installer");
      const grant = await accounts.exchangeCode(code, stage.redirectUrl, NEVER);
      expect((await accounts.installationsOf(grant.token, NEVER)).toSorted()).toEqual(ids.toSorted());
    });

    test("exchangeCode() exchanges a code once", async () => {
      const code = await stage.host.authorize("bob");
      const grant = await accounts.exchangeCode(code, stage.redirectUrl, NEVER);
      expect(await accounts.user(grant.token, NEVER)).toMatchObject({ login: "bob" });
      expect(grant.refreshToken).toBeInstanceOf(Secret);
      expect(grant.expiresAt).toBeInstanceOf(Date);
      for (const used of [code, "forged", "", "a&b=c"]) {
        expect(await failureOf(accounts.exchangeCode(used, stage.redirectUrl, NEVER))).toMatchObject(LOGIN_EXPIRED);
      }
    });

    test("refresh() exchanges a refresh token once", async () => {
      const code = await stage.host.authorize("bob");
      const { refreshToken, token: former } = await accounts.exchangeCode(code, stage.redirectUrl, NEVER);
      const renewed = await accounts.refresh(refreshToken!, NEVER);
      expect(renewed.token.reveal()).not.toBe(former.reveal());
      expect(await accounts.user(renewed.token, NEVER)).toMatchObject({ login: "bob" });
      expect(renewed.refreshToken).toBeInstanceOf(Secret);
      for (const used of [refreshToken!, new Secret("never-issued-refresh")]) {
        expect(await failureOf(accounts.refresh(used, NEVER), used)).toMatchObject(LOGIN_EXPIRED);
      }
    });

    test("a device login is pending until the user decides, and completes once", async () => {
      const login = await accounts.startDeviceLogin(NEVER);
      expect(login).toMatchObject({ intervalSeconds: expect.any(Number), expiresInSeconds: expect.any(Number) });
      expect(login.verificationUri).toMatch(/^https?:\/\/.*\/login\/device$/);
      expect(await accounts.checkDeviceLogin(login.deviceCode, NEVER)).toMatchObject({ status: "pending" });
      await stage.host.decideDevice(login.userCode, { login: "bob" });
      const state = await accounts.checkDeviceLogin(login.deviceCode, NEVER);
      if (state.status !== "complete") throw new Error(state.status);
      expect(await accounts.user(state.grant.token, NEVER)).toMatchObject({ login: "bob" });
      for (const used of [login.deviceCode, new Secret("never-issued-device")]) {
        expect(await failureOf(accounts.checkDeviceLogin(used, NEVER), used)).toMatchObject(LOGIN_EXPIRED);
      }
    });

    test.each(["denied", "expired"] as const)("a device login can be %s", async (decision) => {
      const login = await accounts.startDeviceLogin(NEVER);
      await stage.host.decideDevice(login.userCode, decision);
      expect(await accounts.checkDeviceLogin(login.deviceCode, NEVER)).toEqual({ status: decision });
    });

    test("every method fails with a host that is down or limits its rate, and ends when aborted", async () => {
      const id = await stage.host.install("acme");
      const code = await stage.host.authorize("bob");
      const { deviceCode } = await accounts.startDeviceLogin(NEVER);
      const { refreshToken } = await accounts.exchangeCode(await stage.host.authorize("bob"), stage.redirectUrl, NEVER);
      for (const call of [
        (signal: AbortSignal) => accounts.user(token, signal),
        (signal: AbortSignal) => accounts.list({ kind: "token", token }, signal),
        (signal: AbortSignal) => accounts.list({ kind: "installation", installationId: id }, signal),
        (signal: AbortSignal) => accounts.installation(id, signal),
        (signal: AbortSignal) => accounts.installationsOf(token, signal),
        (signal: AbortSignal) => accounts.exchangeCode(code, stage.redirectUrl, signal),
        (signal: AbortSignal) => accounts.refresh(refreshToken!, signal),
        (signal: AbortSignal) => accounts.startDeviceLogin(signal),
        (signal: AbortSignal) => accounts.checkDeviceLogin(deviceCode, signal),
      ]) {
        await expectFaults(stage.host, call, token, refreshToken!, deviceCode, new Secret(code));
      }
      expect(await accounts.checkDeviceLogin(deviceCode, NEVER)).toMatchObject({ status: "pending" });
    });
  });
}

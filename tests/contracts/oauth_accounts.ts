import { describe, expect, test } from "bun:test";
import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { aMember, anOrganization, joins, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

function grantOf(token: string, refreshToken: string | null = null, expiresAt: Date | null = null): OAuthGrant {
  return { token: new Secret(token), refreshToken: refreshToken === null ? null : new Secret(refreshToken), expiresAt };
}

/** Contract tests for `OAuthAccounts` adapters. */
export function oauthAccountsContract(
  name: string,
  open: () => Promise<WorldOf<"installation" | "invitations" | "members" | "oauthAccounts" | "organizations">>,
) {
  describe(`OAuthAccounts contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function accountOf(overrides: Partial<OAuthAccount> = {}): Promise<OAuthAccount> {
      const organizationId = overrides.organizationId ?? (await anOrganization(world())).id;
      const userId = overrides.userId ?? (await aMember(world(), organizationId));
      return { login: "octocat", connectedAt: minutes(1), ...overrides, organizationId, userId };
    }

    async function anAccount(grant = grantOf("token"), overrides: Partial<OAuthAccount> = {}): Promise<OAuthAccount> {
      const account = await accountOf(overrides);
      await world().oauthAccounts.put(account, grant);
      return account;
    }

    /** The stored tokens in plain text. */
    async function tokensOf({ organizationId, userId }: OAuthAccount) {
      const grant = await world().oauthAccounts.grant(organizationId, userId);
      return grant && [grant.token.reveal(), grant.refreshToken?.reveal() ?? null, grant.expiresAt];
    }

    test("list() returns accounts without their tokens, oldest first", async () => {
      const { id: organizationId } = await anOrganization(world());
      const made = [];
      for (const minute of [3, 1, 2]) {
        const grant = grantOf("swordfish", "swordfish");
        made.push(await anAccount(grant, { organizationId, connectedAt: minutes(minute) }));
      }
      await anAccount();
      const [third, first, second] = made;
      const listed = await world().oauthAccounts.list(organizationId);
      expect(listed).toEqual([first!, second!, third!]);
      expect(Bun.inspect(listed)).not.toContain("swordfish");
      expect(await world().oauthAccounts.list(newId("org"))).toEqual([]);
    });

    test.each(oddTexts)("grant() returns %j unchanged", async (text) => {
      const account = await anAccount(grantOf(text, text, minutes(5)), { login: text });
      expect(await tokensOf(account)).toEqual([text, text, minutes(5)]);
      expect(await world().oauthAccounts.list(account.organizationId)).toEqual([account]);
    });

    test("grant() of a token that does not expire has neither refresh token nor end", async () => {
      expect(await tokensOf(await anAccount(grantOf("lasting")))).toEqual(["lasting", null, null]);
    });

    test("put() replaces the account of that user in that organization alone", async () => {
      const former = await anAccount(grantOf("old", "old refresh", minutes(5)));
      const colleague = await anAccount(grantOf("theirs"), { organizationId: former.organizationId });
      const { id: elsewhere } = await anOrganization(world());
      await joins(world(), former.userId, { organizationId: elsewhere, at: minutes(1) });
      const same = await anAccount(grantOf("elsewhere"), { userId: former.userId, organizationId: elsewhere });
      const next = { ...former, login: "renamed", connectedAt: minutes(2) };
      await world().oauthAccounts.put(next, grantOf("new"));
      expect(await world().oauthAccounts.list(former.organizationId)).toEqual([colleague, next]);
      expect(await tokensOf(next)).toEqual(["new", null, null]);
      expect(await tokensOf(colleague)).toEqual(["theirs", null, null]);
      expect(await tokensOf(same)).toEqual(["elsewhere", null, null]);
    });

    test("renew() replaces the former tokens and keeps the account", async () => {
      const former = grantOf("old", "old refresh", minutes(5));
      const account = await anAccount(former);
      expect(await world().oauthAccounts.renew(account, former, grantOf("new", "new refresh", minutes(9)))).toBe(true);
      expect(await tokensOf(account)).toEqual(["new", "new refresh", minutes(9)]);
      expect(await world().oauthAccounts.list(account.organizationId)).toEqual([account]);
    });

    test("renew() changes nothing if the tokens are others by now, or the account is gone", async () => {
      const account = await anAccount(grantOf("one", "two", minutes(5)));
      const next = grantOf("new", "newer");
      for (const former of [grantOf("other", "two"), grantOf("one", "other"), grantOf("one")]) {
        expect(await world().oauthAccounts.renew(account, former, next)).toBe(false);
      }
      expect(await tokensOf(account)).toEqual(["one", "two", minutes(5)]);
      const unknown = { ...account, userId: newId("usr") };
      expect(await world().oauthAccounts.renew(unknown, grantOf("one", "two"), next)).toBe(false);
      expect(await tokensOf(unknown)).toBeUndefined();
    });

    test("concurrent renew() calls store one result", async () => {
      const former = grantOf("old", "old refresh", minutes(5));
      const account = await anAccount(former);
      const grants = Array.from({ length: 20 }, (_, index) => grantOf(`token ${index}`, `refresh ${index}`));
      const outcomes = await Promise.all(grants.map((grant) => world().oauthAccounts.renew(account, former, grant)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = outcomes.indexOf(true);
      expect(await tokensOf(account)).toEqual([`token ${winner}`, `refresh ${winner}`, null]);
    });

    test("remove() removes an account once", async () => {
      const { organizationId, userId } = await anAccount();
      const outcomes = await Promise.all([1, 2, 3].map(() => world().oauthAccounts.remove(organizationId, userId)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await world().oauthAccounts.list(organizationId)).toEqual([]);
      expect(await world().oauthAccounts.grant(organizationId, userId)).toBeUndefined();
    });

    test("a member who leaves loses the account, which a later membership does not bring back", async () => {
      const account = await anAccount();
      const { organizationId, userId } = account;
      const { id: elsewhere } = await anOrganization(world());
      await joins(world(), userId, { organizationId: elsewhere, at: minutes(1) });
      const kept = await anAccount(grantOf("kept"), { userId, organizationId: elsewhere });
      await world().members.remove(organizationId, userId);
      for (const round of ["gone", "back"]) {
        expect(await world().oauthAccounts.list(organizationId), round).toEqual([]);
        expect(await tokensOf(account), round).toBeUndefined();
        await joins(world(), userId, { organizationId, at: minutes(3) });
      }
      expect(await world().oauthAccounts.list(elsewhere)).toEqual([kept]);
    });

    test("put() refuses an account of a user who is no member", async () => {
      const account = await accountOf({ userId: await aMember(world(), (await anOrganization(world())).id) });
      await expect(world().oauthAccounts.put(account, grantOf("token"))).rejects.toMatchObject({
        kind: "conflict",
        code: "changed_meanwhile",
      });
      expect(await world().oauthAccounts.list(account.organizationId)).toEqual([]);
    });
  });
}

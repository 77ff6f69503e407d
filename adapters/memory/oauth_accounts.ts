import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import { assertMember } from "./assert_member.ts";
import { copied } from "./copied.ts";
import { memberKey, type MemoryTables } from "./memory_tables.ts";

/** Keeps accounts that users connected by OAuth in memory. */
export class MemoryOAuthAccounts implements OAuthAccounts {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(organizationId: string): Promise<readonly OAuthAccount[]> {
    const own = this.#tables.oauthAccounts
      .values()
      .map(({ account }) => account)
      .filter((account) => account.organizationId === organizationId);
    return copied([...own].sort(oldestFirst));
  }

  async grant(organizationId: string, userId: string): Promise<OAuthGrant | undefined> {
    const row = this.#tables.oauthAccounts.get(memberKey(organizationId, userId));
    return row && copyOf(row.grant);
  }

  async put(account: OAuthAccount, grant: OAuthGrant): Promise<void> {
    assertMember(this.#tables, account);
    const key = memberKey(account.organizationId, account.userId);
    this.#tables.oauthAccounts.set(key, { account: copied(account), grant: copyOf(grant) });
  }

  async renew(
    { organizationId, userId }: Pick<OAuthAccount, "organizationId" | "userId">,
    former: OAuthGrant,
    grant: OAuthGrant,
  ): Promise<boolean> {
    const key = memberKey(organizationId, userId);
    const row = this.#tables.oauthAccounts.get(key);
    if (!row || !hasSameTokens(row.grant, former)) return false;
    this.#tables.oauthAccounts.set(key, { ...row, grant: copyOf(grant) });
    return true;
  }

  async remove(organizationId: string, userId: string): Promise<boolean> {
    return this.#tables.oauthAccounts.delete(memberKey(organizationId, userId));
  }
}

function oldestFirst(a: OAuthAccount, b: OAuthAccount): number {
  return a.connectedAt.getTime() - b.connectedAt.getTime() || (a.userId < b.userId ? -1 : 1);
}

function copyOf({ token, refreshToken, expiresAt }: OAuthGrant): OAuthGrant {
  return { token, refreshToken, expiresAt: copied(expiresAt) };
}

function hasSameTokens(one: OAuthGrant, other: OAuthGrant): boolean {
  return one.token.reveal() === other.token.reveal() && one.refreshToken?.reveal() === other.refreshToken?.reveal();
}

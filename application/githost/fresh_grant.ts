import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";
import type { GitAccounts } from "../../ports/githost/git_accounts.ts";
import type { OAuthAccounts } from "../../ports/githost/oauth_accounts.ts";
import type { Clock } from "../../ports/system/clock.ts";

export interface FreshGrantPorts {
  readonly clock: Clock;
  readonly gitAccounts: GitAccounts;
  readonly oauthAccounts: OAuthAccounts;
}

/** Renewed this long before it expires, because a request may wait for a rate limit. */
const MARGIN_MS = 300_000;

/** Returns the tokens of a connected account, renewed where they expire soon; `undefined` if the account is gone. */
export function freshGrant({ clock, gitAccounts, oauthAccounts }: FreshGrantPorts) {
  return async function (
    { organizationId, userId }: Pick<OAuthAccount, "organizationId" | "userId">,
    signal: AbortSignal,
  ): Promise<OAuthGrant | undefined> {
    const former = await oauthAccounts.grant(organizationId, userId);
    if (!former?.expiresAt || !former.refreshToken) return former;
    if (former.expiresAt.getTime() - MARGIN_MS > clock.now().getTime()) return former;
    try {
      const renewed = await gitAccounts.refresh(former.refreshToken, signal);
      const isStored = await oauthAccounts.renew({ organizationId, userId }, former, renewed);
      return isStored ? renewed : await oauthAccounts.grant(organizationId, userId);
    } catch (error) {
      // A refresh token works once: another process may have used it just before.
      const current = await oauthAccounts.grant(organizationId, userId);
      if (current && current.token.reveal() !== former.token.reveal()) return current;
      throw error;
    }
  };
}

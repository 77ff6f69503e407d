import type { OAuthAccount } from "../../domain/githost/oauth_account.ts";
import type { OAuthGrant } from "../../domain/githost/oauth_grant.ts";

/**
 * Stores the accounts that users connected by OAuth, one per user and organization, with their tokens encrypted. A user
 * who leaves the organization loses the account.
 */
export interface OAuthAccounts {
  /** Oldest first. Leaves out accounts of users that are no members of the organization any more. */
  list(organizationId: string): Promise<readonly OAuthAccount[]>;
  grant(organizationId: string, userId: string): Promise<OAuthGrant | undefined>;
  /**
   * Adds an account, or replaces the user's former one. Rejects with a `conflict` failure, code `changed_meanwhile`, for
   * a user who is no member of the organization.
   */
  put(account: OAuthAccount, grant: OAuthGrant): Promise<void>;
  /**
   * Replaces the tokens if they are still the former ones, so that of several processes that renew them at once one
   * stores its result. Returns whether it did.
   */
  renew(
    account: Pick<OAuthAccount, "organizationId" | "userId">,
    former: OAuthGrant,
    grant: OAuthGrant,
  ): Promise<boolean>;
  /** Returns `false` if there is no such account. */
  remove(organizationId: string, userId: string): Promise<boolean>;
}

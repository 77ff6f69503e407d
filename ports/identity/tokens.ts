import type { AccessToken } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Stores access tokens, only as fingerprints. */
export interface Tokens {
  create(token: AccessToken, tokenFingerprint: string): Promise<void>;
  /** Lists the unrevoked tokens of one user in one organization, newest first. */
  list(owner: { readonly organizationId: string; readonly userId: string }, page: Page): Promise<Listing<AccessToken>>;
  /** Revokes a token at once, in every process. Returns `false` when the owner has no token with this id. */
  revoke(owner: { readonly organizationId: string; readonly userId: string }, id: string): Promise<boolean>;
  /**
   * Deletes tokens that were revoked or expired before a time and returns how many. Keeps the first owner's token, so
   * that it can be replaced.
   */
  sweep(before: Date): Promise<number>;
}

import type { AccessToken } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Access tokens, kept only as fingerprints. */
export interface Tokens {
  create(token: AccessToken, tokenFingerprint: string): Promise<void>;
  /** The unrevoked tokens of one person in one organization, newest first. */
  list(owner: { readonly organizationId: string; readonly userId: string }, page: Page): Promise<Listing<AccessToken>>;
  /** Ends a token at once, everywhere; `false` when the owner has none with this id. */
  revoke(owner: { readonly organizationId: string; readonly userId: string }, id: string): Promise<boolean>;
  /** Removes tokens that were revoked or expired before a time, and tells how many; the first owner's stays, to be replaced. */
  sweep(before: Date): Promise<number>;
}

import type { Invitation } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** Somebody who takes an invitation: a new person, or one who is known already. */
export type InvitationTaker =
  | { readonly kind: "new"; readonly userId: string; readonly name: string; readonly passwordHash: string }
  | { readonly kind: "known"; readonly userId: string };

/** Places in organizations that wait to be taken; the token of one is kept only as its fingerprint. */
export interface Invitations {
  /** Keeps an invitation, in place of any other one for its address in its organization, also under a race. */
  create(invitation: Invitation, tokenFingerprint: string): Promise<void>;
  /** The untaken invitation with this token, expired or not. */
  findByToken(tokenFingerprint: string): Promise<Invitation | undefined>;
  find(organizationId: string, id: string): Promise<Invitation | undefined>;
  /** The untaken invitation for an address, expired or not. */
  findByEmail(organizationId: string, email: string): Promise<Invitation | undefined>;
  /** Untaken and unexpired ones at a time, newest first. */
  list(organizationId: string, at: Date, page: Page): Promise<Listing<Invitation>>;
  /**
   * Turns an untaken invitation into a membership, in one step; `false` when it was taken or withdrawn meanwhile. A known
   * person who is already a member keeps the membership as it is. Rejects with a `conflict` failure, code `email_taken`, when a new person's address is known.
   */
  accept(id: string, taker: InvitationTaker, at: Date): Promise<boolean>;
  /** Withdraws an untaken invitation; `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** Removes untaken invitations that expired before a time, and tells how many. */
  sweep(before: Date): Promise<number>;
}

import type { Invitation } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";

/** The user who accepts an invitation: a new or an existing one. */
export type InvitationTaker =
  | { readonly kind: "new"; readonly userId: string; readonly name: string; readonly passwordHash: string }
  | { readonly kind: "known"; readonly userId: string };

/** Stores pending invitations to organizations. An invitation's token is stored only as a fingerprint. */
export interface Invitations {
  /** Stores an invitation. Replaces any other one for the same address in the same organization, even under a race. */
  create(invitation: Invitation, tokenFingerprint: string): Promise<void>;
  /** Finds the unaccepted invitation with this token, expired or not. */
  findByToken(tokenFingerprint: string): Promise<Invitation | undefined>;
  find(organizationId: string, id: string): Promise<Invitation | undefined>;
  /** Finds the unaccepted invitation for an address, expired or not. */
  findByEmail(organizationId: string, email: string): Promise<Invitation | undefined>;
  /** Lists invitations that are neither accepted nor expired at a time, newest first. */
  list(organizationId: string, at: Date, page: Page): Promise<Listing<Invitation>>;
  /**
   * Turns an unaccepted invitation into a membership, atomically. Returns `false` when it was accepted or withdrawn
   * meanwhile. An existing user who is already a member keeps the membership unchanged. Rejects with a `conflict`
   * failure, code `email_taken`, when the address of a new user already belongs to a user.
   */
  accept(id: string, taker: InvitationTaker, at: Date): Promise<boolean>;
  /** Withdraws an unaccepted invitation. Returns `false` when there is none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** Deletes unaccepted invitations that expired before a time and returns how many. */
  sweep(before: Date): Promise<number>;
}

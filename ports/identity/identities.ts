import type { Identity } from "../../domain/identity/identity.ts";

/** Finds out whom a credential stands for; this is asked on every request. */
export interface Identities {
  /**
   * The identity behind a fingerprint, memberships in order of joining; `undefined` when unknown or revoked. Expiry is the caller's to check. A change
   * of token, session, member or grant shows in the next answer.
   */
  find(kind: "token" | "session", fingerprint: string): Promise<Identity | undefined>;
  /** Notes that a credential was used; written later, in batches. */
  used(credential: Identity["credential"], at: Date): void;
}

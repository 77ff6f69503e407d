import type { Identity } from "../../domain/identity/identity.ts";

/** Resolves a credential to an identity. The server calls this on every request. */
export interface Identities {
  /**
   * Returns the identity behind a fingerprint, with memberships in the order of joining, or `undefined` when it is
   * unknown or revoked. The caller checks expiry. A change of token, session, member or grant is visible to the next
   * call.
   */
  find(kind: "token" | "session", fingerprint: string): Promise<Identity | undefined>;
  /** Records that a credential was used. Written later, in batches. */
  used(credential: Identity["credential"], at: Date): void;
}

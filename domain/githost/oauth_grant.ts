import type { Secret } from "../secret.ts";

/** The tokens that the git host issued for one of its users. */
export interface OAuthGrant {
  readonly token: Secret;
  /** Renews the token; `null` if it does not expire. */
  readonly refreshToken: Secret | null;
  readonly expiresAt: Date | null;
}

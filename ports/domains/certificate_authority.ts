import type { Secret } from "../../domain/secret.ts";

/** An order that the authority has accepted. */
export interface AcceptedOrder {
  /** Where the authority keeps it. */
  readonly url: string;
  /** What to serve at `http://HOSTNAME/.well-known/acme-challenge/TOKEN`; `null` if the authority needs no proof. */
  readonly proof: { readonly token: string; readonly text: string } | null;
}

/** A request to the authority. */
export interface AuthorityOptions {
  readonly signal: AbortSignal;
}

/**
 * Issues certificates (ACME, RFC 8555). Rejects with an `unavailable` failure, code `authority_unreachable`, when it does
 * not answer; with a `remote_failed` failure, code `authority_refused`, and its own words when it refuses, and then with
 * `retryAfter` if it says when to try again.
 */
export interface CertificateAuthority {
  /** Orders a certificate for a host name. */
  order(hostname: string, options: AuthorityOptions): Promise<AcceptedOrder>;
  /** Returns an order as it is now, or `undefined` if the authority has forgotten or rejected it. */
  resume(url: string, options: AuthorityOptions): Promise<AcceptedOrder | undefined>;
  /**
   * Has the proof of an order checked, if that is still open, and returns the chain of certificates for a private key,
   * in PEM format. An order whose certificate was issued before returns that one, if it is for this key.
   */
  issue(order: AcceptedOrder, hostname: string, key: Secret, options: AuthorityOptions): Promise<string>;
}

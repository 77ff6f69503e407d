import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { ChallengeProof } from "../../domain/certificates/certificate_order.ts";
import type { Secret } from "../../domain/secret.ts";

/** An order that the authority has accepted. */
export interface AcceptedOrder {
  /** Where the authority keeps it. */
  readonly url: string;
  /** What to serve; `null` if the authority needs no proof. */
  readonly proof: ChallengeProof | null;
}

/** What a certificate is issued for. */
export interface CertificateRequest {
  readonly order: AcceptedOrder;
  readonly hostname: string;
  /** The private key of the certificate, in PEM format. */
  readonly key: Secret;
}

/** A request to the authority. */
export interface AuthorityOptions {
  readonly signal: AbortSignal;
}

/**
 * Issues certificates (ACME, RFC 8555). Rejects with a `remote_failed` failure: code `authority_unreachable` when it does
 * not answer or is out of order, `authority_refused` with its own words when it refuses, `authority_limited` when it
 * refuses because of a limit that is not the host name's own, so that it would refuse other names too; all with
 * `retryAfter` if it says when to try again. Rejects with the reason of the signal once that is aborted.
 */
export interface CertificateAuthority {
  /** Orders a certificate for a host name. */
  order(hostname: string, options: AuthorityOptions): Promise<AcceptedOrder>;
  /** Returns an order as it is now, or `undefined` if the authority has forgotten or rejected it. */
  resume(url: string, options: AuthorityOptions): Promise<AcceptedOrder | undefined>;
  /**
   * Has the proof of an order checked, if that is still open, and returns the certificate. An order whose certificate was
   * issued before returns that one; refuses if it is for another key.
   */
  issue(request: CertificateRequest, options: AuthorityOptions): Promise<Certificate>;
}

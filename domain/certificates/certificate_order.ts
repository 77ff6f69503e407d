import type { Secret } from "../secret.ts";

/** What to serve at `http://HOSTNAME/.well-known/acme-challenge/TOKEN`, to prove control of a host name. */
export interface ChallengeProof {
  readonly token: string;
  readonly text: string;
}

/** How far an order is: what the authority knows it by, and what proves control of the host name. */
export interface OrderProgress {
  /** The private key of the certificate, in PEM format: made before the order, so that a killed process keeps it. */
  readonly key: Secret;
  /** Where the authority keeps the order; `null` before it was asked. */
  readonly url: string | null;
  /** What is served to the authority; `null` before it was asked, or if it needs no proof. */
  readonly proof: ChallengeProof | null;
}

/** An order of a certificate that one process works on. */
export interface CertificateOrder {
  /** The id of the domain that it is for. */
  readonly domainId: string;
  readonly hostname: string;
  readonly organizationId: string;
  /** Identifies the reservation. */
  readonly claim: string;
  readonly progress: OrderProgress | null;
  /** How many attempts have failed in a row. */
  readonly attempts: number;
}

/** How the order of a host name stands, for those who wait for it. */
export interface OrderState {
  /** Whether a process works on it. */
  readonly isTaken: boolean;
  /** How many attempts have failed in a row. */
  readonly attempts: number;
  /** The words of the last failure; `null` after a success. */
  readonly error: string | null;
}

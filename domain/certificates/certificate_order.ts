import type { Secret } from "../secret.ts";

/** How far an order is: what the authority knows it by, and what proves control of the host name. */
export interface OrderProgress {
  /** The private key of the certificate, in PEM format: made before the order, so that a killed process keeps it. */
  readonly key: Secret;
  /** Where the authority keeps the order; `null` before it was asked. */
  readonly url: string | null;
  /** What is served to the authority; `null` before it was asked, or if it needs no proof. */
  readonly proof: { readonly token: string; readonly text: string } | null;
}

/** An order of a certificate that one process works on. */
export interface CertificateOrder {
  readonly hostname: string;
  readonly organizationId: string;
  /** The id of the domain that it is for. */
  readonly domainId: string;
  /** Identifies the reservation. */
  readonly claim: string;
  readonly progress: OrderProgress | null;
  /** How many attempts have failed in a row. */
  readonly attempts: number;
  /** The words of the last failure. */
  readonly error: string | null;
}

/** A certificate as a server presents it. */
export interface PresentedCertificate {
  /** The common name, or the organization, of the authority that issued it; empty if it names neither. */
  readonly issuer: string;
  /** The common name, or the organization, that it was issued to; empty if it names neither. */
  readonly subject: string;
  /** The host names that it is for, in lower case, with wildcards as they are written. Browsers consider no others. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The SHA-256 digest of the certificate, in upper-case hexadecimal pairs with colons. */
  readonly fingerprint256: string;
}

/**
 * Why browsers do not trust the chain of a certificate, apart from its own names and dates. `incomplete`: the server
 * sends only its own certificate, and no known authority has signed that. `broken`: for any other reason.
 */
export type ChainFault = "self_signed" | "incomplete" | "unknown_authority" | "authority_expired" | "broken";

/** Why nobody answered. `no_answer`: not in time. */
export type UnreachableCause = "name_missing" | "lookup_failed" | "refused" | "no_route" | "no_answer";

/**
 * Why a server that answers presented no certificate. `no_tls`: it answers something else, or a certificate that cannot be
 * read. `declined`: it ended the handshake with an alert.
 */
export type NoCertificateCause = "no_tls" | "outdated_tls" | "declined" | "closed";

/** What a TLS handshake showed. */
export type Handshake =
  | {
      readonly kind: "presented";
      readonly certificate: PresentedCertificate;
      /** `null` if the chain leads to an authority that browsers know. */
      readonly chainFault: ChainFault | null;
    }
  | { readonly kind: "none"; readonly cause: NoCertificateCause }
  | { readonly kind: "unreachable"; readonly cause: UnreachableCause };

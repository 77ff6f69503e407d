/** A certificate as a server presents it. */
export interface PresentedCertificate {
  /** The common name, or the organization, of the authority that issued it. */
  readonly issuer: string;
  readonly subject: string;
  /** The host names that it is for, with wildcards as they are written. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The SHA-256 digest of the certificate, in upper-case hexadecimal pairs with colons. */
  readonly fingerprint256: string;
}

/** What a TLS handshake showed. */
export type Handshake =
  | {
      readonly kind: "presented";
      readonly certificate: PresentedCertificate;
      /** Whether a browser would trust it, apart from its names and dates: it leads to a known authority. */
      readonly chainValid: boolean;
    }
  /** Nothing answers at the address, or the name does not exist. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** Something answers, but without TLS or without a certificate for this name. */
  | { readonly kind: "none"; readonly reason: string };

/** Where and how to shake hands. */
export interface ProbeOptions {
  /** The port. Defaults to 443. */
  readonly port?: number;
  /** The IP address to connect to, already looked up and allowed. The name is sent as the server name. */
  readonly address: string;
  /** PEM certificates of authorities to trust besides those of the system. */
  readonly authorities?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Shakes hands with a TLS server, as a browser does. Sends no request and changes nothing. */
export interface TlsProbe {
  /** Resolves within 10 seconds, whatever the server does. Rejects only with the reason of the signal. */
  shakeHands(hostname: string, options: ProbeOptions): Promise<Handshake>;
}

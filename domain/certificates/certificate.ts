import type { Secret } from "../secret.ts";

/** The certificate of a host name, with its private key. */
export interface Certificate {
  readonly hostname: string;
  /** The certificate, followed by those of the authorities up to the root, in PEM format. */
  readonly chain: string;
  /** The private key, in PEM format. */
  readonly key: Secret;
  /** The common name, or the organization, of the authority that issued it. */
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The SHA-256 digest of the certificate, in upper-case hexadecimal pairs with colons. */
  readonly fingerprint256: string;
}

import { X509Certificate } from "node:crypto";
import type { ChainFault } from "../../domain/certificates/handshake.ts";

/** Real chains have up to five certificates. */
const LONGEST_CHAIN = 10;

const FAULTS: Readonly<Record<string, ChainFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "self_signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "incomplete",
  UNABLE_TO_GET_ISSUER_CERT: "unknown_authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown_authority",
  SELF_SIGNED_CERT_IN_CHAIN: "unknown_authority",
};

const DATE_ERRORS = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);

/**
 * Returns why browsers do not trust the chain of a certificate apart from its own dates, by the error of its
 * verification; `null` if they do. The verification reports only its last error, and that of a date comes after the
 * others: then the chain is followed here.
 */
export function chainFault(
  leaf: X509Certificate,
  error: string | null,
  trusted: () => readonly string[],
): ChainFault | null {
  if (error === null) return null;
  if (!DATE_ERRORS.has(error)) return FAULTS[error] ?? "broken";
  const chain = chainOf(leaf);
  const root = chain.at(-1) ?? leaf;
  if (chain.some((each, index) => !isSignedBy(each, chain[index + 1] ?? root))) {
    return chain.length === 1 ? "incomplete" : "unknown_authority";
  }
  const isKnown = trusted().some((pem) => new X509Certificate(pem).fingerprint256 === root.fingerprint256);
  if (!isKnown) return chain.length === 1 ? "self_signed" : "unknown_authority";
  return isInDate(leaf) ? "authority_expired" : null;
}

/** Returns a certificate and those of its authorities, as far as they were presented or are known. */
function chainOf(leaf: X509Certificate): X509Certificate[] {
  const chain = [leaf];
  for (let next = leaf.issuerCertificate; next && chain.length < LONGEST_CHAIN; next = next.issuerCertificate) {
    if (next.fingerprint256 === chain.at(-1)?.fingerprint256) break;
    chain.push(next);
  }
  return chain;
}

/** Returns whether an authority has signed a certificate. The root has signed itself. */
function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  const isAuthority = authority.ca || certificate === authority;
  return isAuthority && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function isInDate({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now();
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

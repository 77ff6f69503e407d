import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateRequest } from "../../ports/domains/certificate_authority.ts";
import { refused } from "./authority_failure.ts";

/** Returns a certificate from its chain in PEM format. Rejects one that does not belong to the name and the key. */
export function issuedCertificate(chain: string, { hostname, key }: CertificateRequest): Certificate {
  const certificate = parsed(chain);
  if (certificate.checkHost(hostname) === undefined) throw refused({ detail: "the certificate is for another name" });
  if (!certificate.checkPrivateKey(createPrivateKey(key.reveal())))
    throw refused({ detail: "the certificate is for another key" });
  return {
    hostname,
    chain,
    key,
    issuer: issuerOf(certificate),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
    fingerprint256: certificate.fingerprint256,
  };
}

function parsed(chain: string): X509Certificate {
  try {
    return new X509Certificate(chain);
  } catch (cause) {
    throw refused({ detail: "the certificate cannot be read" }, undefined, cause);
  }
}

function issuerOf({ issuer }: X509Certificate): string {
  const fields = new Map(issuer.split("\n").map((line) => [line.split("=")[0]!, line.slice(line.indexOf("=") + 1)]));
  return fields.get("CN") ?? fields.get("O") ?? issuer;
}

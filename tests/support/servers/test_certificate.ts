import { X509Certificate } from "node:crypto";
import { selfSigned } from "../../../adapters/shared/self_signed.ts";
import { Secret } from "../../../domain/secret.ts";
import type { EdgeCertificate } from "../../../ports/domains/edge.ts";

/** A certificate to present, and the SHA-256 fingerprint that a client sees. */
export interface TestCertificate extends EdgeCertificate {
  readonly fingerprint: string;
}

/** Makes a certificate for a host name. It is its own authority. */
export function testCertificate(hostname: string): TestCertificate {
  const { cert, key } = selfSigned(hostname);
  return { hostname, chain: cert, key: new Secret(key), fingerprint: new X509Certificate(cert).fingerprint256 };
}

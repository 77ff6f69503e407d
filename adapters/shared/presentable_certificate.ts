import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Failure, invalid } from "../../domain/failure.ts";
import type { EdgeCertificate } from "../../ports/domains/edge.ts";

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Throws a `Failure` unless all certificates and the key can be read, and the key belongs to the first certificate. */
export function assertPresentable({ hostname, chain, key }: EdgeCertificate): void {
  const certificates = (chain.match(PEM) ?? []).map((pem) =>
    readOr(() => new X509Certificate(pem), hostname, "one of the chain cannot be read"),
  );
  const [own] = certificates;
  if (!own) throw notPresentable(hostname, "there is none in PEM format");
  const privateKey = readOr(() => createPrivateKey(key.reveal()), hostname, "its private key cannot be read");
  if (!own.checkPrivateKey(privateKey)) throw notPresentable(hostname, "the private key belongs to another one");
}

/** A certificate that no edge can present. The reason must not contain any part of the key. */
export function notPresentable(hostname: string, reason: string): Failure {
  return invalid("certificate_unusable", `Cannot present the certificate of ${hostname}: ${reason}`);
}

/** Drops the error of the library, which might quote what it has read. */
function readOr<T>(read: () => T, hostname: string, reason: string): T {
  try {
    return read();
  } catch {
    throw notPresentable(hostname, reason);
  }
}

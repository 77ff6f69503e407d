import type { X509Certificate } from "node:crypto";
import type { PresentedCertificate } from "../../domain/certificates/handshake.ts";

/** The parts of a distinguished name. A repeated part is a list. */
type DistinguishedName = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads a certificate. Throws for one whose dates cannot be read. */
export function presentedCertificate(certificate: X509Certificate): PresentedCertificate {
  const { issuer, subject } = certificate.toLegacyObject();
  return {
    issuer: nameOf(issuer as unknown as DistinguishedName | undefined),
    subject: nameOf(subject as unknown as DistinguishedName | undefined),
    names: hostNames(certificate.subjectAltName ?? ""),
    notBefore: dateOf(certificate.validFrom),
    notAfter: dateOf(certificate.validTo),
    fingerprint256: certificate.fingerprint256,
  };
}

function nameOf({ CN, O }: DistinguishedName = {}): string {
  return [CN ?? O ?? ""].flat().join(", ");
}

/**
 * Reads the host names from text such as `DNS:a.example.com, IP Address:192.0.2.1`. A value with unusual characters is
 * quoted there, with its commas escaped: it is no host name, and it cannot look like two.
 */
function hostNames(alternativeNames: string): string[] {
  const names = alternativeNames.split(", ").flatMap((part) => /^DNS:([a-z0-9*._-]+)$/i.exec(part)?.[1] ?? []);
  return names.map((name) => name.toLowerCase());
}

function dateOf(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Error(`Cannot read the date ${text} of a certificate`);
  return date;
}

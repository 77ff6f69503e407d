import { type IssuedCertificate, issueCertificate } from "./issued_certificate.ts";

/** A private key and a self-signed certificate for one host name, valid for a day, both in PEM. */
export function selfSignedCertificate(name: string): IssuedCertificate {
  return issueCertificate({ subject: name, names: [name], isAuthority: true });
}

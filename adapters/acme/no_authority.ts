import { invalid } from "../../domain/failure.ts";
import type { CertificateAuthority } from "../../ports/domains/certificate_authority.ts";

/** The authority of an installation that orders no certificates: refuses everything. */
export class NoAuthority implements CertificateAuthority {
  order(): Promise<never> {
    return Promise.reject(off());
  }

  resume(): Promise<never> {
    return Promise.reject(off());
  }

  issue(): Promise<never> {
    return Promise.reject(off());
  }
}

function off() {
  return invalid("certificates_off", "Cannot order a certificate: ACME_DIRECTORY_URL is off");
}

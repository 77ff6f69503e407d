import type { ApplicationPorts } from "../application_ports.ts";
import { claimDomain } from "./claim_domain.ts";
import { httpVerification } from "./http_verification.ts";
import { listDomains } from "./list_domains.ts";
import { readCertificateStatus } from "./read_certificate_status.ts";
import { removeDomain } from "./remove_domain.ts";
import { verifyDomain } from "./verify_domain.ts";

export type DomainUseCases = ReturnType<typeof domainUseCases>;

/** The use cases of domains. */
export function domainUseCases(ports: ApplicationPorts) {
  return {
    claimDomain: claimDomain(ports),
    countsHttpVerification: httpVerification(ports),
    listDomains: listDomains(ports),
    readCertificateStatus: readCertificateStatus(ports),
    removeDomain: removeDomain(ports),
    verifyDomain: verifyDomain(ports),
  };
}

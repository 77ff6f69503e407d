import type { ApplicationPorts } from "../application_ports.ts";
import { renewCertificate } from "./renew_certificate.ts";

export type CertificateUseCases = ReturnType<typeof certificateUseCases>;

/** The use cases of certificates. */
export function certificateUseCases(ports: ApplicationPorts) {
  return { renewCertificate: renewCertificate(ports) };
}

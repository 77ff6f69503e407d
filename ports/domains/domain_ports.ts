import type { CertificateAuthority } from "./certificate_authority.ts";
import type { CertificateOrders } from "./certificate_orders.ts";
import type { Certificates } from "./certificates.ts";
import type { Domains } from "./domains.ts";
import type { Edge } from "./edge.ts";
import type { NameRecords } from "./name_records.ts";
import type { TlsProbe } from "./tls_probe.ts";
import type { WebTexts } from "./web_texts.ts";

/** The domain ports that the application depends on. */
export interface DomainPorts {
  readonly certificateAuthority: CertificateAuthority;
  readonly certificateOrders: CertificateOrders;
  readonly certificates: Certificates;
  readonly domains: Domains;
  readonly edge: Edge;
  readonly nameRecords: NameRecords;
  readonly tlsProbe: TlsProbe;
  readonly webTexts: WebTexts;
}

import type { Domains } from "./domains.ts";
import type { Edge } from "./edge.ts";
import type { NameRecords } from "./name_records.ts";
import type { TlsProbe } from "./tls_probe.ts";

/** The domain ports that the application depends on. */
export interface DomainPorts {
  readonly domains: Domains;
  readonly edge: Edge;
  readonly nameRecords: NameRecords;
  readonly tlsProbe: TlsProbe;
}

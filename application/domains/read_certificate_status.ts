import {
  type CertificateStatus,
  certificateStatus,
  type StatusOptions,
  worstStatus,
} from "../../domain/certificates/certificate_status.ts";
import type { UnreachableCause } from "../../domain/certificates/handshake.ts";
import { normalHostname } from "../../domain/domains/domain_name.ts";
import { Failure, invalidField } from "../../domain/failure.ts";
import { allows, type Principal } from "../../domain/identity/permission.ts";
import { isLoopbackAddress, isPublicAddress } from "../../domain/network_address.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";
import type { TlsProbe } from "../../ports/domains/tls_probe.ts";
import type { Clock } from "../../ports/system/clock.ts";

/** Where a TLS server listens. */
export interface TlsAddress {
  readonly address: string;
  readonly port: number;
}

export interface ReadCertificateStatusPorts {
  readonly mode: "self-hosted" | "cloud";
  readonly clock: Clock;
  readonly domains: Domains;
  readonly nameRecords: NameRecords;
  readonly tlsProbe: TlsProbe;
  /** Where the edge of this installation is reached from this machine; `undefined` if that is not known. */
  readonly edgeTls: TlsAddress | undefined;
}

/** The status of the certificate of a host name, as it is written in DNS. */
export interface HostCertificateStatus extends CertificateStatus {
  readonly hostname: string;
}

const HTTPS_PORT = 443;
const MAX_ADDRESSES = 8;

/**
 * Reads the status of a host name's certificate by TLS handshakes with all its addresses, and returns the worst. Looks
 * the name up once and connects to exactly those addresses; in cloud mode only if all of them are public. It sees what
 * everybody sees, with one exception, outside cloud mode: the names of the caller's own projects that lead nowhere or to
 * this machine itself, such as those under `localhost`, are asked for at the edge.
 */
export function readCertificateStatus(ports: ReadCertificateStatusPorts) {
  const { clock, mode, nameRecords, tlsProbe } = ports;
  return async function (by: Principal, domain: string, signal?: AbortSignal): Promise<HostCertificateStatus> {
    const hostname = normalHostname(domain);
    if (hostname === undefined) {
      const sentence = "must be a host name such as www.example.com, without a scheme, port or path; not an IP address";
      throw invalidField("domain", sentence);
    }
    const cancelled = signal ? { signal } : {};
    const judgedAt = (place: string): StatusOptions => ({ hostname, place, now: clock.now() });
    const unreachable = (cause: UnreachableCause) => ({
      hostname,
      ...certificateStatus({ kind: "unreachable", cause }, judgedAt("")),
    });
    const addresses = await nameRecords.addresses(hostname, cancelled).catch(withoutAnswer);
    if (addresses === undefined) return unreachable("lookup_failed");
    if (mode === "cloud" && !addresses.every(isPublicAddress)) {
      throw invalidField("domain", "only names with public addresses can be checked here");
    }
    const targets = (await edgeFor(ports, by, { hostname, addresses })) ?? publicTargets(addresses);
    const statuses = await Promise.all(
      targets.map(async ({ address, port }) => {
        const handshake = await tlsProbe.shakeHands(hostname, { address, port, ...cancelled });
        return certificateStatus(handshake, judgedAt(`${address} port ${port}`));
      }),
    );
    const worst = worstStatus(statuses);
    return worst ? { hostname, ...worst } : unreachable("name_missing");
  };
}

function publicTargets(addresses: readonly string[]): TlsAddress[] {
  return addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, port: HTTPS_PORT }));
}

/** Returns the edge for a name of the caller's own projects that leads nowhere else. */
async function edgeFor(
  { domains, edgeTls, mode }: ReadCertificateStatusPorts,
  by: Principal,
  { hostname, addresses }: { readonly hostname: string; readonly addresses: readonly string[] },
): Promise<TlsAddress[] | undefined> {
  if (mode === "cloud" || !edgeTls || !addresses.every(isLoopbackAddress)) return undefined;
  const { items } = await domains.list(by.organizationId, { hostnames: [hostname] }, { page: 1, perPage: 1 });
  const own = items.find(
    ({ verifiedAt, projectId }) => verifiedAt && allows(by, "deployment:read", { id: "", projectId }),
  );
  return own && [edgeTls];
}

function withoutAnswer(error: unknown): undefined {
  if (!(error instanceof Failure && error.code === "name_lookup_failed")) throw error;
  return undefined;
}

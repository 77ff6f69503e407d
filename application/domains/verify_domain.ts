import { type DomainName, proofRecord } from "../../domain/domains/domain_name.ts";
import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";
import { findDomain } from "./find_domain.ts";

export interface VerifyDomainPorts {
  readonly clock: Clock;
  readonly domains: Domains;
  readonly nameRecords: NameRecords;
}

/** Verifies a host name by its TXT record; a verified one stays verified. */
export function verifyDomain(ports: VerifyDomainPorts) {
  const find = findDomain(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<DomainName> {
    const domain = await find(by, id, "project:write");
    if (domain.verifiedAt) return domain;
    const { name, value } = proofRecord(domain);
    const texts = await ports.nameRecords.texts(name, signal ? { signal } : {});
    if (!texts.includes(value)) {
      throw invalid(
        "domain_unverified",
        `Cannot verify yet: publish a TXT record at "${name}" with the value "${value}", then try again`,
      );
    }
    const verified = await ports.domains.verified(by.organizationId, id, ports.clock.now());
    if (!verified) throw notFound("domain");
    return verified;
  };
}

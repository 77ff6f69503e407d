import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { CertificateOrder } from "../../domain/certificates/certificate_order.ts";
import { type DomainName, normalHostname } from "../../domain/domains/domain_name.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import { carryOutOrder, type CarryOutOrderPorts } from "./carry_out_order.ts";
import { ORDER_LEASE_MS } from "./held_order.ts";
import { renewalLimits } from "./renewal_limits.ts";

export interface RenewCertificatePorts extends CarryOutOrderPorts {
  readonly domains: Domains;
  /** The authority's directory; `undefined` if no certificates are ordered. */
  readonly acmeDirectoryUrl: string | undefined;
}

/** A caller waits this long; the order goes on after it. */
const WAIT_MS = 50_000;
const LOOK_MS = 250;

/**
 * Orders a new certificate for a host name of the caller's organization at once, unless too many were ordered of late.
 * While an order of the name is under way, waits for its outcome instead.
 */
export function renewCertificate(ports: RenewCertificatePorts) {
  const { certificateOrders, certificates } = ports;
  const carryOut = carryOutOrder(ports);
  const limits = renewalLimits(ports);
  return async function (by: Principal, name: string, signal?: AbortSignal): Promise<Certificate> {
    const domain = await orderable(ports, by, name);
    const limit = AbortSignal.timeout(WAIT_MS);
    try {
      return await renewed(domain, AbortSignal.any([limit, ...(signal ? [signal] : [])]));
    } catch (error) {
      if (!limit.aborted) throw error;
      const sentence = "The certificate authority has not finished yet. The order goes on: look again in a few minutes";
      throw new Failure("remote_failed", "authority_unreachable", sentence, { cause: error });
    }
  };

  async function renewed(domain: DomainName, signal: AbortSignal): Promise<Certificate> {
    const { id: domainId, hostname } = domain;
    const former = await certificates.find(hostname);
    const { attempts, isTaken } = await state(domainId);
    if (!isTaken) await limits.check(hostname);
    for (;;) {
      const order = await certificateOrders.take({ leaseMs: ORDER_LEASE_MS, domainId });
      if (order) return ordered(order, signal);
      // Another request, or the worker of any process, is at it.
      while ((await state(domainId)).isTaken) await paused(LOOK_MS, signal);
      const certificate = await certificates.find(hostname);
      if (certificate && certificate.fingerprint256 !== former?.fingerprint256) return certificate;
      const now = await state(domainId);
      if (now.attempts > attempts && now.error !== null)
        throw new Failure("remote_failed", "authority_refused", now.error);
    }
  }

  async function ordered(order: CertificateOrder, signal: AbortSignal): Promise<Certificate> {
    try {
      return await carryOut(order, signal);
    } catch (error) {
      const isRefused = error instanceof Failure && ["authority_refused", "authority_limited"].includes(error.code);
      if (isRefused) await limits.noteRefused(order.hostname);
      throw error;
    }
  }

  async function state(domainId: string) {
    const found = await certificateOrders.find(domainId);
    if (!found) throw notFound("domain");
    return found;
  }
}

/** Finds a verified custom host name of the caller's organization. */
async function orderable(
  { acmeDirectoryUrl, domains }: RenewCertificatePorts,
  by: Principal,
  name: string,
): Promise<DomainName> {
  const hostname = normalHostname(name) ?? "";
  const { items } = await domains.list(by.organizationId, { hostnames: [hostname] }, { page: 1, perPage: 1 });
  const [domain] = items;
  if (!domain) throw notFound("domain");
  demand(by, "deployment:write", { id: "", projectId: domain.projectId });
  const cannot = `Cannot order a certificate for ${hostname}`;
  if (domain.type === "free")
    throw invalid(
      "domain_free",
      `${cannot}: only custom domains get one, and this is a free name under the base domain`,
    );
  if (!domain.verifiedAt) throw invalid("domain_unverified", `${cannot}: verify the domain first`);
  if (acmeDirectoryUrl === undefined) throw invalid("certificates_off", `${cannot}: ACME_DIRECTORY_URL is off`);
  return domain;
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve) => setTimeout(resolve, ms));
}

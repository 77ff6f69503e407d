import { type DomainName, proofPage, proofRecord } from "../../domain/domains/domain_name.ts";
import { Failure, invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";
import type { WebText, WebTexts } from "../../ports/domains/web_texts.ts";
import { findDomain } from "./find_domain.ts";
import { httpVerification, type HttpVerificationPorts } from "./http_verification.ts";

export interface VerifyDomainPorts extends HttpVerificationPorts {
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly domains: Domains;
  readonly nameRecords: NameRecords;
  readonly webTexts: WebTexts;
}

/** Whether a name is proven, else what stands against it. */
type Finding = { readonly isProven: true } | { readonly isProven: false; readonly why: string };

const MAX_ADDRESSES = 8;
/** How long the edges of all processes may take to know a claim that was just made. */
const FOLLOW_MS = 5_000;

/**
 * Verifies a host name by its TXT record or, where that counts, because it leads to an edge of this installation; a
 * verified one stays verified.
 */
export function verifyDomain(ports: VerifyDomainPorts) {
  const find = findDomain(ports);
  const countsHttp = httpVerification(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<DomainName> {
    const domain = await find(by, id, "project:write");
    if (domain.verifiedAt) return domain;
    const cancelled = signal ? { signal } : {};
    const { name, value } = proofRecord(domain);
    const texts = await ports.nameRecords.texts(name, cancelled).catch(lookupFailure);
    if (texts instanceof Failure || !texts.includes(value)) {
      const led = (await countsHttp([domain])) ? await leadsHere(ports, domain, signal) : undefined;
      if (!led?.isProven && texts instanceof Failure) throw texts;
      if (!led?.isProven) throw unproven(domain, led?.why);
    }
    const verified = await ports.domains.verified(by.organizationId, id, ports.clock.now());
    if (!verified) throw notFound("domain");
    return verified;
  };
}

/** Asks all addresses of a name for its proof: each that answers must be an edge of this installation. */
async function leadsHere(
  { certificates, nameRecords, webTexts }: VerifyDomainPorts,
  domain: DomainName,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const { hostname } = domain;
  const cancelled = signal ? { signal } : {};
  const { path, text } = proofPage(domain);
  const addresses = await nameRecords.addresses(hostname, cancelled);
  if (addresses.length === 0) return { isProven: false, why: "it has no address yet" };
  await certificates.followed(FOLLOW_MS);
  const asked = addresses.slice(0, MAX_ADDRESSES).map(async (address) => {
    const answer = await webTexts.read({ address, hostname, path, ...cancelled });
    return { address, answer };
  });
  const answers = await Promise.all(asked);
  const isOurs = (answer: WebText) =>
    answer.kind === "answered" && answer.status === 200 && answer.text.trim() === text;
  const other = answers.find(({ answer }) => answer.kind === "answered" && !isOurs(answer));
  if (other) return { isProven: false, why: `at ${other.address}, another server answers` };
  if (answers.some(({ answer }) => isOurs(answer))) return { isProven: true };
  return { isProven: false, why: `nothing answers at port 80 of ${addresses[0]}` };
}

function unproven(domain: DomainName, why?: string): Failure {
  const { name, value } = proofRecord(domain);
  const record = `publish a TXT record at "${name}" with the value "${value}"`;
  const led = why === undefined ? "" : `, or have the name lead to this installation (${why})`;
  return invalid("domain_unverified", `Cannot verify yet: ${record}${led}, then try again`);
}

function lookupFailure(error: unknown): Failure {
  if (error instanceof Failure && error.code === "name_lookup_failed") return error;
  throw error;
}

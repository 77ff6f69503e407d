import type { Certificate } from "../../../domain/certificates/certificate.ts";
import type { OrderProgress } from "../../../domain/certificates/certificate_order.ts";
import type { DomainName } from "../../../domain/domains/domain_name.ts";
import { Secret } from "../../../domain/secret.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";
import { aPlace, domainOf, minutes, START } from "./store_builders.ts";

/** A certificate of a host name. */
export function certificateOf(hostname: string, overrides: Partial<Certificate> = {}): Certificate {
  return {
    hostname,
    chain: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    key: new Secret(`key of ${hostname}`),
    issuer: "Test authority",
    notBefore: minutes(0),
    notAfter: minutes(90 * 24 * 60),
    fingerprint256: "AA:BB",
    ...overrides,
  };
}

/** An order that the authority has accepted. */
export function progressOf(overrides: Partial<OrderProgress> = {}): OrderProgress {
  const proof = { token: "token", text: "token.thumbprint" };
  return { key: new Secret("order key"), url: "https://ca.example.com/order/1", proof, ...overrides };
}

/** Stores a custom domain, verified by default, of a new project in a new organization. */
export async function aCustomDomain(
  world: Pick<StoreWorld, "domains" | "installation" | "organizations" | "projects">,
  overrides: Partial<DomainName> = {},
): Promise<DomainName> {
  const claim = domainOf({ ...(await aPlace(world)), verifiedAt: START, ...overrides });
  await world.domains.claim(claim);
  return claim;
}

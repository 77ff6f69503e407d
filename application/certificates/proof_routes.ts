import { proofPage } from "../../domain/domains/domain_name.ts";
import type { CertificateOrders } from "../../ports/domains/certificate_orders.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";

export interface ProofRoutesPorts {
  readonly mode: "self-hosted" | "cloud";
  readonly certificateOrders: CertificateOrders;
  readonly domains: Domains;
}

const CHALLENGE_PATH = "/.well-known/acme-challenge";

/**
 * Returns what the edge proves, by host name: for orders under way and, outside cloud mode, for names that wait for their
 * verification. With a host name, at least what is proven of that one.
 */
export function proofRoutes({ certificateOrders, domains, mode }: ProofRoutesPorts) {
  return async function (hostname?: string): Promise<ReadonlyMap<string, readonly EdgeRoute[]>> {
    const claims = mode === "cloud" ? [] : await domains.unverified(hostname);
    const orders = await certificateOrders.proofs();
    const routes = [
      ...orders.map(({ token, ...proof }) => routeOf({ ...proof, path: `${CHALLENGE_PATH}/${token}` })),
      ...claims.map((claim) => routeOf({ hostname: claim.hostname, ...proofPage(claim) })),
    ];
    return Map.groupBy(routes, (route) => route.hostname);
  };
}

/** The key of the routes of a host name's proofs. */
export function proofOwner(hostname: string): string {
  return `proofs:${hostname}`;
}

/** A text that the edge answers with. */
interface ProofText {
  readonly hostname: string;
  readonly path: string;
  readonly text: string;
}

function routeOf({ hostname, path: pathPrefix, text }: ProofText): EdgeRoute {
  const owner = proofOwner(hostname);
  return { hostname, pathPrefix, projectId: owner, servedBy: owner, target: { kind: "text", text } };
}

import type { DomainName } from "../domain_name.ts";
import type { Project } from "../project.ts";
import type { PublicEndpoint } from "../service_definition.ts";
import type { Deployment } from "./deployment.ts";

/** A host name and path that leads to a deployment. */
export interface PublicAddress {
  readonly hostname: string;
  readonly pathPrefix: string;
}

/** The addresses a deployment serves: those it names, else every proven name of its project; a preview has one of its own. */
export function addressesOf(
  deployment: Pick<Deployment, "environment" | "plan" | "version">,
  {
    project,
    domains,
    baseDomain,
  }: { readonly project: Project; readonly domains: readonly DomainName[]; readonly baseDomain: string },
): readonly PublicAddress[] {
  if (deployment.environment === "preview") {
    return [
      { hostname: `${project.slug}-v${deployment.version}-${project.id.slice(-6)}.${baseDomain}`, pathPrefix: "/" },
    ];
  }
  const proven = domains.filter(({ verifiedAt }) => verifiedAt !== null).map(({ hostname }) => hostname);
  const named = deployment.plan.publicEndpoints
    .map((endpoint) => addressOf(endpoint, proven, baseDomain))
    .filter((address) => address !== undefined);
  return named.length > 0 ? named : proven.map((hostname) => ({ hostname, pathPrefix: "/" }));
}

function addressOf(endpoint: PublicEndpoint, proven: readonly string[], baseDomain: string): PublicAddress | undefined {
  const custom =
    endpoint.domainType === "custom" || (endpoint.domainType === undefined && endpoint.customDomain !== undefined);
  const hostname = custom ? endpoint.customDomain : endpoint.domain && `${endpoint.domain}.${baseDomain}`;
  return hostname && proven.includes(hostname) ? { hostname, pathPrefix: endpoint.targetPath ?? "/" } : undefined;
}

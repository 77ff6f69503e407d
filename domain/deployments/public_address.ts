import type { DomainName } from "../domains/domain_name.ts";
import type { Project } from "../projects/project.ts";
import type { ResolvedEndpoint } from "../services/resolve_endpoints.ts";
import { SOLE_SERVICE } from "../services/sole_service.ts";
import type { Deployment } from "./deployment.ts";
import { endpointName, pathPrefixOf } from "./endpoint_name.ts";
import { previewLabel } from "./preview_label.ts";

/** A host name and path prefix that route to a service of a deployment. */
export interface PublicAddress {
  readonly hostname: string;
  readonly pathPrefix: string;
  readonly service: string;
  /** The container port to route to; `null` is the main port of the service. */
  readonly port: number | null;
}

export interface AddressOptions {
  readonly project: Project;
  readonly domains: readonly DomainName[];
  readonly baseDomain: string;
}

/**
 * Returns the addresses that a deployment serves, in the order of its endpoints: the host names they request, else
 * every verified host name of the project. If two claim the same address, the endpoint that names the host wins. A
 * preview has one host name of its own.
 */
export function addressesOf(
  deployment: Pick<Deployment, "environment" | "plan" | "pullRequest" | "version">,
  { project, domains, baseDomain }: AddressOptions,
): readonly PublicAddress[] {
  const endpoints = endpointsOf(deployment);
  if (deployment.environment === "preview") {
    const hostname = `${previewLabel(project, deployment)}.${baseDomain}`;
    return eachOnce(endpoints.map((endpoint) => ({ ...addressAt(hostname, endpoint), named: false })));
  }
  const proven = domains.filter(({ verifiedAt }) => verifiedAt !== null).map(({ hostname }) => hostname);
  const led = leading(endpoints, proven, baseDomain);
  if (led.length > 0) return eachOnce(led);
  // None of the requested host names is verified any more; serving under another one beats not serving at all.
  return eachOnce(leading(endpoints.map(unnamed), proven, baseDomain));
}

/** Endpoints of several services are resolved once these are known; otherwise the only service gets them all. */
function endpointsOf({
  plan: { projectType, publicEndpoints },
}: Pick<Deployment, "plan">): readonly ResolvedEndpoint[] {
  const all = publicEndpoints.map(({ port, ...endpoint }) => ({
    ...endpoint,
    service: endpoint.service ?? SOLE_SERVICE,
    port: port === undefined ? null : Number(port),
  }));
  if (projectType === "services") return all;
  return all.length === 0
    ? [{ service: SOLE_SERVICE, port: null }]
    : all.map((endpoint) => ({ ...endpoint, service: SOLE_SERVICE }));
}

function unnamed({ port, service, targetPath }: ResolvedEndpoint): ResolvedEndpoint {
  return { port, service, ...(targetPath !== undefined && { targetPath }) };
}

interface LedAddress extends PublicAddress {
  /** Whether the endpoint requests exactly this host name. */
  readonly named: boolean;
}

function leading(
  endpoints: readonly ResolvedEndpoint[],
  proven: readonly string[],
  baseDomain: string,
): readonly LedAddress[] {
  return endpoints.flatMap((endpoint): readonly LedAddress[] => {
    const name = endpointName(endpoint);
    if (name === null) return proven.map((hostname) => ({ ...addressAt(hostname, endpoint), named: false }));
    const hostname = name.kind === "custom" ? name.hostname : `${name.label}.${baseDomain}`;
    return proven.includes(hostname) ? [{ ...addressAt(hostname, endpoint), named: true }] : [];
  });
}

function addressAt(hostname: string, endpoint: ResolvedEndpoint): PublicAddress {
  const { service, port } = endpoint;
  return { hostname, pathPrefix: pathPrefixOf(endpoint), service, port };
}

function eachOnce(addresses: readonly LedAddress[]): readonly PublicAddress[] {
  const place = ({ hostname, pathPrefix }: PublicAddress) => `${hostname} ${pathPrefix}`;
  const named = new Set(addresses.filter((address) => address.named).map(place));
  const seen = new Set<string>();
  return addresses.flatMap(({ named: isNamed, ...address }) => {
    const at = place(address);
    if (seen.has(at) || (!isNamed && named.has(at))) return [];
    seen.add(at);
    return [address];
  });
}

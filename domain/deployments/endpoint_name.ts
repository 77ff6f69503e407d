import { normalHostname } from "../domains/domain_name.ts";
import type { PublicEndpoint } from "../services/service_definition.ts";

/** The host name that an endpoint requests. */
export type EndpointName =
  /** A label under the base domain. */
  | { readonly kind: "free"; readonly label: string; readonly key: string }
  | { readonly kind: "custom"; readonly hostname: string; readonly key: string };

/**
 * Returns the host name that an endpoint requests; `domainType` decides if both are given. `null` when the endpoint
 * serves all host names of its project.
 */
export function endpointName({ domain, customDomain, domainType }: Omit<PublicEndpoint, "port">): EndpointName | null {
  const custom = domainType === "custom" || (domainType === undefined && customDomain !== undefined);
  if (!custom) return domain === undefined ? null : { kind: "free", label: domain, key: `free ${domain}` };
  if (customDomain === undefined) return null;
  const hostname = normalHostname(customDomain) ?? customDomain;
  return { kind: "custom", hostname, key: `custom ${hostname}` };
}

/** Returns the path prefix that an endpoint serves, without trailing `/`. */
export function pathPrefixOf({ targetPath = "/" }: Pick<PublicEndpoint, "targetPath">): string {
  return targetPath.replace(/\/+$/, "") || "/";
}

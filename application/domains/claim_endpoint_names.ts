import { endpointName, pathPrefixOf } from "../../domain/deployments/endpoint_name.ts";
import { isPreviewLabel } from "../../domain/deployments/preview_label.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { type Failure, invalid, invalidField } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { isSlug, type Project } from "../../domain/projects/project.ts";
import type { PublicEndpoint } from "../../domain/services/service_definition.ts";
import { randomText } from "../../domain/identity/token.ts";
import type { ClaimDomainPorts } from "./claim_domain.ts";
import { hostnameTaken, taken } from "./hostname_taken.ts";

interface AskedName {
  readonly hostname: string;
  readonly kind: "free" | "custom";
  readonly path: string;
}

/**
 * Ensures that a project has the host names of its endpoints: claims free ones, and requires custom ones to be verified
 * already. Validates all names before it claims any, and refuses a name of another project. Without a caller it acts on
 * the project's own settings, which only callers with the right to claim names can change.
 */
export function claimEndpointNames(ports: ClaimDomainPorts) {
  const refusal = hostnameTaken(ports);
  return async function (by: Principal | null, project: Project, endpoints: readonly PublicEndpoint[]): Promise<void> {
    const missing = new Set<string>();
    const names = namesIn(endpoints, ports.baseDomain);
    const known = await heldNames(project, new Set(names.map(({ hostname }) => hostname)));
    for (const name of names) {
      const { hostname, kind } = name;
      const held = known.get(hostname);
      if (kind === "custom") requireProven(name, project, held);
      else if (hostname === ports.publicHost) throw taken(hostname);
      else if (!held) missing.add(claimable(hostname));
      else if (held.projectId !== project.id) throw await refused(by, project, hostname);
    }
    // Deploying a project includes choosing its host names.
    if (by && missing.size > 0) demand(by, "deployment:write", { id: "", projectId: project.id });
    for (const hostname of missing) await claim(by, project, hostname);
  };

  /** The failure for a taken name; names its holder if the caller may see it. */
  async function refused(by: Principal | null, { id: projectId }: Project, hostname: string): Promise<Failure> {
    return by ? refusal(by, { hostname, projectId }) : taken(hostname);
  }

  /** Returns which of these names the project's organization holds; names of others only show when claiming fails. */
  async function heldNames(
    { organizationId }: Project,
    names: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DomainName>> {
    if (names.size === 0) return new Map();
    const { items } = await ports.domains.list(
      organizationId,
      { hostnames: [...names] },
      { page: 1, perPage: names.size },
    );
    return new Map(items.map((domain) => [domain.hostname, domain]));
  }

  function claimable(hostname: string): string {
    if (isPreviewLabel(hostname.slice(0, -ports.baseDomain.length - 1))) throw taken(hostname);
    return hostname;
  }

  async function claim(by: Principal | null, project: Project, hostname: string): Promise<void> {
    const { id: projectId, organizationId } = project;
    const at = ports.clock.now();
    const name: DomainName = {
      id: newId("dom", at),
      organizationId,
      projectId,
      hostname,
      type: "free",
      proof: randomText(),
      verifiedAt: at,
      createdAt: at,
    };
    if (await ports.domains.claim(name)) return;
    // A concurrent deployment of the same project may have claimed it meanwhile.
    const held = (await heldNames(project, new Set([hostname]))).get(hostname);
    if (held?.projectId !== projectId) throw await refused(by, project, hostname);
  }
}

function namesIn(endpoints: readonly PublicEndpoint[], baseDomain: string): readonly AskedName[] {
  const places = new Set<string>();
  return endpoints.flatMap((endpoint, index) => {
    const path = `publicEndpoints.${index}`;
    const name = endpointName(endpoint);
    if (endpoint.domainType === "custom" && name === null)
      throw invalidField(`${path}.customDomain`, "give the full name that the endpoint is to have");
    if (name?.kind === "free" && !isSlug(name.label))
      throw invalidField(`${path}.domain`, `give one label of at most 40 characters, without .${baseDomain}`);
    const hostname = name && (name.kind === "free" ? `${name.label}.${baseDomain}` : name.hostname);
    const place = `${hostname} ${pathPrefixOf(endpoint)}`;
    if (places.has(place)) throw invalidField(path, "another endpoint has the same host and path; change one of them");
    places.add(place);
    const field = name?.kind === "custom" ? "customDomain" : "domain";
    return name && hostname ? [{ hostname, kind: name.kind, path: `${path}.${field}` }] : [];
  });
}

function requireProven({ hostname, path }: AskedName, project: Project, held: DomainName | undefined): void {
  if (held?.projectId === project.id && held.verifiedAt) return;
  const why =
    held?.projectId === project.id
      ? `control of it is not proven yet. Publish its TXT record and verify it (POST /api/domains/${held.id}/verify)`
      : "it is not a name of this project. Add it (POST /api/domains) and verify it first";
  throw invalid("domain_unverified", `Cannot use "${hostname}" for an endpoint: ${why}`, {
    details: [{ path, message: why }],
  });
}

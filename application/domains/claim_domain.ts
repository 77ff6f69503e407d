import { type DomainName, hostnameFault, normalHostname } from "../../domain/domains/domain_name.ts";
import { isPreviewLabel } from "../../domain/deployments/preview_label.ts";
import { invalidField } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { isSlug } from "../../domain/projects/project.ts";
import { randomText } from "../../domain/identity/token.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import { randomEnding } from "../projects/create_project.ts";
import { findProject } from "../projects/find_project.ts";
import { hostnameTaken, taken } from "./hostname_taken.ts";

export interface ClaimDomainPorts {
  readonly baseDomain: string;
  readonly clock: Clock;
  readonly domains: Domains;
  readonly projects: Projects;
  /** The API's own host name, which no project may claim. */
  readonly publicHost: string;
}

/**
 * Claims a host name for a project: a free one under the base domain works at once, a custom one after verification. A
 * custom one may be claimed by several organizations: it belongs to the first that verifies it.
 */
export function claimDomain(ports: ClaimDomainPorts) {
  const find = findProject(ports);
  return async function (
    by: Principal,
    input: { readonly projectId: string; readonly hostname: string },
  ): Promise<DomainName> {
    const project = await find(by, input.projectId, "project:write");
    const hostname = normalHostname(input.hostname);
    if (!hostname) throw invalidField("hostname", hostnameFault(input.hostname));
    if (hostname === ports.publicHost || hostname === ports.baseDomain) throw taken(hostname);
    const label = hostname.endsWith(`.${ports.baseDomain}`)
      ? hostname.slice(0, -ports.baseDomain.length - 1)
      : undefined;
    if (label !== undefined && !isSlug(label))
      throw invalidField("hostname", `give one label of at most 40 characters before .${ports.baseDomain}`);
    if (label !== undefined && isPreviewLabel(label)) throw taken(hostname);
    const at = ports.clock.now();
    const claim: DomainName = {
      id: newId("dom", at),
      organizationId: by.organizationId,
      projectId: project.id,
      hostname,
      type: label === undefined ? "custom" : "free",
      proof: randomText(),
      verifiedAt: label === undefined ? null : at,
      createdAt: at,
    };
    return label === undefined ? claimCustom(ports, by, claim) : claimFree(ports, claim, label);
  };
}

async function claimCustom(ports: ClaimDomainPorts, by: Principal, claim: DomainName): Promise<DomainName> {
  if (await ports.domains.claim(claim)) return claim;
  throw await hostnameTaken(ports)(by, claim);
}

async function claimFree(
  { baseDomain, domains }: ClaimDomainPorts,
  claim: DomainName,
  label: string,
): Promise<DomainName> {
  for (let name = claim; ; name = { ...claim, hostname: `${label}-${randomEnding()}.${baseDomain}` }) {
    if (await domains.claim(name)) return name;
  }
}

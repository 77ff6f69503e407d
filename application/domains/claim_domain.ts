import { CLAIM_MS, type DomainName, normalHostname } from "../../domain/domain_name.ts";
import { conflict, invalidField } from "../../domain/failure.ts";
import { newId } from "../../domain/id.ts";
import { allows, type Principal } from "../../domain/permission.ts";
import { isSlug } from "../../domain/project.ts";
import { randomText } from "../../domain/token.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Domains } from "../../ports/domains.ts";
import type { Projects } from "../../ports/projects.ts";
import { randomEnding } from "../projects/create_project.ts";
import { findProject } from "../projects/find_project.ts";

export interface ClaimDomainPorts {
  readonly baseDomain: string;
  readonly clock: Clock;
  readonly domains: Domains;
  readonly projects: Projects;
  /** The API's own host, which no project may take. */
  readonly publicHost: string;
}

/** Gives a project a host name: a free one under the base domain at once, another one once its owner proves control. */
export function claimDomain(ports: ClaimDomainPorts) {
  const find = findProject(ports);
  return async function (
    by: Principal,
    wish: { readonly projectId: string; readonly hostname: string },
  ): Promise<DomainName> {
    const project = await find(by, wish.projectId, "project:write");
    const hostname = normalHostname(wish.hostname);
    if (!hostname) throw invalidField("hostname", "give a full host name such as www.example.com");
    if (hostname === ports.publicHost || hostname === ports.baseDomain) throw taken(hostname);
    const label = hostname.endsWith(`.${ports.baseDomain}`)
      ? hostname.slice(0, -ports.baseDomain.length - 1)
      : undefined;
    if (label !== undefined && !isSlug(label))
      throw invalidField("hostname", `give one label of at most 40 characters before .${ports.baseDomain}`);
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
  const staleBefore = new Date(claim.createdAt.getTime() - CLAIM_MS);
  if (await ports.domains.claim(claim, { staleBefore })) return claim;
  throw taken(claim.hostname, await holderOf(ports, by, claim));
}

/** Which project of the caller's has a name, if it may know. */
async function holderOf(
  { domains, projects }: ClaimDomainPorts,
  by: Principal,
  { hostname, projectId }: DomainName,
): Promise<string | undefined> {
  const { items } = await domains.list(by.organizationId, { hostname }, { page: 1, perPage: 1 });
  const [held] = items;
  if (!held || !allows(by, "project:list", { id: held.projectId })) return undefined;
  if (held.projectId === projectId) return "this project";
  const holder = await projects.find(by.organizationId, held.projectId);
  return holder && `your project "${holder.name}"`;
}

async function claimFree(
  { baseDomain, domains }: ClaimDomainPorts,
  claim: DomainName,
  label: string,
): Promise<DomainName> {
  for (let name = claim; ; name = { ...claim, hostname: `${label}-${randomEnding()}.${baseDomain}` }) {
    if (await domains.claim(name, { staleBefore: new Date(0) })) return name;
  }
}

function taken(hostname: string, holder?: string) {
  const why = holder === undefined ? "it is taken on this installation" : `${holder} has it already`;
  return conflict("hostname_taken", `Cannot use "${hostname}": ${why}`);
}

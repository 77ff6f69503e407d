import { invalid, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { LiveReleases } from "../../ports/deployments/live_releases.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Log } from "../../ports/system/log.ts";
import { findDomain } from "./find_domain.ts";

export interface RemoveDomainPorts {
  readonly certificates: Certificates;
  readonly domains: Domains;
  readonly liveReleases: LiveReleases;
  readonly log: Log;
  readonly projects: Projects;
}

/** How long the edges of other processes may take to follow. */
const FOLLOW_MS = 20_000;

/**
 * Releases a host name, with its certificate and its order. Resolves once no edge of any process routes it or presents
 * its certificate. A project's own free name cannot be removed before the project.
 */
export function removeDomain(ports: RemoveDomainPorts) {
  const { certificates, domains, liveReleases, log, projects } = ports;
  const find = findDomain({ domains });
  return async function (by: Principal, id: string): Promise<void> {
    const domain = await find(by, id, "project:admin");
    const project = await projects.find(by.organizationId, domain.projectId);
    if (project?.hostname === domain.hostname) {
      throw invalid(
        "own_hostname",
        "Cannot delete this name: it is the project's own free address and goes with the project",
      );
    }
    if (!(await domains.remove(by.organizationId, id))) throw notFound("domain");
    if (!domain.verifiedAt) return;
    const followed = await Promise.all([liveReleases.followed(FOLLOW_MS), certificates.followed(FOLLOW_MS)]);
    if (followed.every(Boolean)) return;
    const { hostname } = domain;
    log.write("warn", "Another server may still serve a removed domain: restart the servers that hang", { hostname });
  };
}

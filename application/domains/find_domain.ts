import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { Domains } from "../../ports/domains/domains.ts";

/** Finds a host name of the caller's organization and refuses a caller without the permission on its project. */
export function findDomain({ domains }: { readonly domains: Domains }) {
  return async function (by: Principal, id: string, permission: Permission): Promise<DomainName> {
    const domain = isId("dom", id) ? await domains.find(by.organizationId, id) : undefined;
    if (!domain) throw notFound("domain");
    demand(by, permission, { id: domain.projectId });
    return domain;
  };
}

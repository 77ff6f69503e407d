import { conflict, type Failure } from "../../domain/failure.ts";
import { allows, type Principal } from "../../domain/identity/permission.ts";
import type { Domains } from "../../ports/domains/domains.ts";
import type { Projects } from "../../ports/projects/projects.ts";

/** Builds the failure for a taken host name; names its holder if the caller may see it. */
export function hostnameTaken(ports: { readonly domains: Domains; readonly projects: Projects }) {
  return async function (
    by: Principal,
    { hostname, projectId }: { readonly hostname: string; readonly projectId: string },
  ): Promise<Failure> {
    return taken(hostname, await holderOf(ports, by, { hostname, projectId }));
  };
}

/** The failure for a taken host name; `holder` is left out of the message unless given. */
export function taken(hostname: string, holder?: string): Failure {
  const why = holder === undefined ? "it is taken on this installation" : `${holder} has it already`;
  return conflict("hostname_taken", `Cannot use "${hostname}": ${why}`);
}

/** Describes the caller's own project that holds a name; `undefined` if the caller may not see it. */
async function holderOf(
  { domains, projects }: { readonly domains: Domains; readonly projects: Projects },
  by: Principal,
  { hostname, projectId }: { readonly hostname: string; readonly projectId: string },
): Promise<string | undefined> {
  const { items } = await domains.list(by.organizationId, { hostnames: [hostname] }, { page: 1, perPage: 1 });
  const [held] = items;
  if (!held || !allows(by, "project:list", { id: held.projectId })) return undefined;
  if (held.projectId === projectId) return "this project";
  const holder = await projects.find(by.organizationId, held.projectId);
  return holder && `your project "${holder.name}"`;
}

import { notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import { demand, type Permission, type Principal } from "../../domain/identity/permission.ts";
import type { Server } from "../../domain/servers/server.ts";
import type { Servers } from "../../ports/servers/servers.ts";

/** Finds a server of the caller's organization and refuses a caller without the permission on it. */
export function findServer({ servers }: { readonly servers: Servers }) {
  return async function (by: Principal, id: string, permission: Permission): Promise<Server> {
    const server = isId("srv", id) ? await servers.find(by.organizationId, id) : undefined;
    if (!server) throw notFound("server");
    demand(by, permission, { id });
    return server;
  };
}

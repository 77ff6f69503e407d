import { notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { findServer } from "./find_server.ts";

/** Removes a server from the database; nothing on the machine changes. */
export function removeServer({ servers }: { readonly servers: Servers }) {
  const find = findServer({ servers });
  return async function (by: Principal, id: string): Promise<void> {
    await find(by, id, "server:admin");
    if (!(await servers.remove(by.organizationId, id))) throw notFound("server");
  };
}

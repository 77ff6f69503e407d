import type { Page } from "../../domain/page.ts";
import { type Principal, visibleIds } from "../../domain/identity/permission.ts";
import type { Servers } from "../../ports/servers/servers.ts";

/** Lists the servers of the caller's organization that it may see. */
export function listServers({ servers }: { readonly servers: Servers }) {
  return function (by: Principal, page: Page) {
    const ids = visibleIds(by, "server:list");
    return servers.list(by.organizationId, ids === "all" ? {} : { ids }, page);
  };
}

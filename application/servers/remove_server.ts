import { conflict, notFound } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Projects } from "../../ports/projects/projects.ts";
import type { Servers } from "../../ports/servers/servers.ts";
import { findServer } from "./find_server.ts";

const NAMED = 3;

export interface RemoveServerPorts {
  readonly projects: Projects;
  readonly servers: Servers;
}

/** Removes a server that no project runs on from the database; nothing on the machine changes. */
export function removeServer({ projects, servers }: RemoveServerPorts) {
  const find = findServer({ servers });
  return async function (by: Principal, id: string): Promise<void> {
    await find(by, id, "server:admin");
    const { items: entries, total } = await projects.list(
      by.organizationId,
      { serverId: id },
      { page: 1, perPage: NAMED },
    );
    if (total > 0) {
      const names = entries.map(({ name }) => `"${name}"`).join(", ");
      const more = total > entries.length ? ` and ${total - entries.length} more` : "";
      throw conflict(
        "server_in_use",
        `Cannot delete this server: ${names}${more} ${total === 1 ? "runs" : "run"} there. Move or delete that first`,
      );
    }
    if (!(await servers.remove(by.organizationId, id))) throw notFound("server");
  };
}

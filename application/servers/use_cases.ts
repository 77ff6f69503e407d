import type { ApplicationPorts } from "../application_ports.ts";
import { changeServer } from "./change_server.ts";
import { checkServer } from "./check_server.ts";
import { createServer } from "./create_server.ts";
import { findServer } from "./find_server.ts";
import { listServers } from "./list_servers.ts";
import { removeServer } from "./remove_server.ts";

export type ServerUseCases = ReturnType<typeof serverUseCases>;

/** The use cases of servers. */
export function serverUseCases(ports: ApplicationPorts) {
  return {
    changeServer: changeServer(ports),
    checkServer: checkServer(ports),
    createServer: createServer(ports),
    findServer: findServer(ports),
    listServers: listServers(ports),
    removeServer: removeServer(ports),
  };
}

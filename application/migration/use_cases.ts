import type { ApplicationPorts } from "../application_ports.ts";
import { adoptServices } from "./adopt_services.ts";
import { scanServer } from "./scan_server.ts";

export type MigrationUseCases = ReturnType<typeof migrationUseCases>;

/** The use cases of migration. */
export function migrationUseCases(ports: ApplicationPorts) {
  return {
    adoptServices: adoptServices(ports),
    scanServer: scanServer(ports),
  };
}

import type { ServerOwners } from "../../ports/servers/server_owners.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Looks up servers in memory. */
export class MemoryServerOwners implements ServerOwners {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async organizationOf(serverId: string): Promise<string | undefined> {
    return this.#tables.servers.get(serverId)?.server.organizationId;
  }

  async noteContainers(serverId: string): Promise<void> {
    if (this.#tables.servers.has(serverId)) this.#tables.serversInUse.add(serverId);
  }

  async inUse(): Promise<readonly string[]> {
    return [...this.#tables.serversInUse].filter((id) => this.#tables.servers.has(id)).toSorted();
  }
}

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

  async inUse(): Promise<readonly string[]> {
    const used = this.#tables.projects.values().filter(({ location }) => location === "server");
    const ids = new Set(used.map(({ serverId }) => serverId));
    return [...this.#tables.servers.keys()].filter((id) => ids.has(id)).toSorted();
  }
}

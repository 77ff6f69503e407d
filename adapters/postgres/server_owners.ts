import type { ServerOwners } from "../../ports/servers/server_owners.ts";
import type { Database } from "./database.ts";

/** Looks up servers in PostgreSQL. */
export class PostgresServerOwners implements ServerOwners {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async organizationOf(serverId: string): Promise<string | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ organization_id: string }[]>`select organization_id from servers where id = ${serverId}`,
    );
    return row?.organization_id;
  }

  async noteContainers(serverId: string): Promise<void> {
    await this.#database.run(
      (sql) => sql`update servers set has_containers = true where id = ${serverId} and not has_containers`,
    );
  }

  async inUse(): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ id: string }[]>`select id from servers where has_containers order by id`,
    );
    return rows.map(({ id }) => id);
  }
}

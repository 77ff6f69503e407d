import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import type { Database, Sql } from "./database.ts";
import { ReadMemory } from "./read_memory.ts";

interface InstallationRow {
  readonly id: number;
  readonly organization_id: string;
  readonly account_login: string;
  readonly account_id: number;
  readonly account_type: AppInstallation["account"]["type"];
  readonly account_avatar_url: string | null;
  readonly suspended: boolean;
  readonly connected_by: string;
  readonly connected_at: Date;
}

/** Stores app installations in PostgreSQL. */
export class PostgresAppInstallations implements AppInstallations {
  readonly #database: Database;
  readonly #reads = new ReadMemory<never>();

  constructor(database: Database) {
    this.#database = database;
  }

  async list(organizationId: string): Promise<readonly AppInstallation[]> {
    const rows = await this.#database.run(
      (sql) => sql<InstallationRow[]>`
        select ${columns(sql)} from githost_installations where organization_id = ${organizationId}
        order by connected_at, id`,
    );
    return rows.map(toInstallation);
  }

  find(id: number): Promise<AppInstallation | undefined> {
    return this.#reads.share(`${id}`, async () => {
      const [row] = await this.#database.run(
        (sql) => sql<InstallationRow[]>`select ${columns(sql)} from githost_installations where id = ${id}`,
      );
      return row && toInstallation(row);
    });
  }

  async connect(installation: AppInstallation): Promise<boolean> {
    const { id, organizationId, account, suspended, connectedBy, connectedAt } = installation;
    const { count } = await this.#database.run(
      (sql) => sql`
        insert into githost_installations as known (${columns(sql)})
        values (${id}, ${organizationId}, ${account.login}, ${account.id}, ${account.type}, ${account.avatarUrl},
          ${suspended}, ${connectedBy}, ${connectedAt})
        on conflict (id) do update set
          account_login = excluded.account_login, account_id = excluded.account_id,
          account_type = excluded.account_type, account_avatar_url = excluded.account_avatar_url,
          suspended = excluded.suspended
        where known.organization_id = excluded.organization_id`,
    );
    return count > 0;
  }

  async suspend(id: number, suspended: boolean): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`update githost_installations set suspended = ${suspended} where id = ${id}`,
    );
    return count > 0;
  }

  async remove(id: number): Promise<boolean> {
    const { count } = await this.#database.run((sql) => sql`delete from githost_installations where id = ${id}`);
    return count > 0;
  }
}

function columns(sql: Sql) {
  return sql`id, organization_id, account_login, account_id, account_type, account_avatar_url, suspended, connected_by,
    connected_at`;
}

function toInstallation(row: InstallationRow): AppInstallation {
  return {
    id: row.id,
    organizationId: row.organization_id,
    account: {
      login: row.account_login,
      id: row.account_id,
      type: row.account_type,
      avatarUrl: row.account_avatar_url,
    },
    suspended: row.suspended,
    connectedBy: row.connected_by,
    connectedAt: row.connected_at,
  };
}

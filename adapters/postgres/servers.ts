import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Server, ServerChange, ServerCredentials } from "../../domain/servers/server.ts";
import type { ServerCheck, Servers } from "../../ports/servers/servers.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database, Sql } from "./database.ts";
import { readPage } from "./read_page.ts";
import { SEALED_COLUMNS } from "./sealed_columns.ts";
import { SealedFields } from "./sealed_fields.ts";

interface ServerRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly ssh_host: string;
  readonly ssh_port: number;
  readonly ssh_user: string;
  readonly host_key: string | null;
  readonly has_password: boolean;
  readonly has_private_key: boolean;
  readonly has_key_passphrase: boolean;
  readonly last_checked_at: Date | null;
  readonly last_check_error: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const SEALED = {
  sshPassword: SEALED_COLUMNS.serverPassword,
  sshPrivateKey: SEALED_COLUMNS.serverPrivateKey,
  sshKeyPassphrase: SEALED_COLUMNS.serverKeyPassphrase,
};
const NAME_TAKEN = { servers_name: nameTaken };

/** Stores servers in PostgreSQL with encrypted secrets. */
export class PostgresServers implements Servers {
  readonly #database: Database;
  readonly #secrets: SealedFields<keyof ServerCredentials>;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#secrets = new SealedFields(vault, SEALED);
  }

  async list(
    organizationId: string,
    { ids }: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<Server>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: columns(sql),
        from: sql`servers where organization_id = ${organizationId}
          ${ids ? sql`and id = any (${ids}::text[])` : sql``}`,
        order: sql`created_at desc, id desc`,
      }),
      toServer,
    );
  }

  async find(organizationId: string, id: string): Promise<Server | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<ServerRow[]>`
        select ${columns(sql)} from servers where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && toServer(row);
  }

  async credentials(organizationId: string, id: string): Promise<ServerCredentials | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<Record<string, string | null>[]>`
        select ${this.#secrets.columns(sql)} from servers where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && this.#secrets.open(id, row);
  }

  async create(server: Server, credentials: ServerCredentials): Promise<void> {
    const row = {
      id: server.id,
      organization_id: server.organizationId,
      ...changedColumns(server),
      host_key: server.hostKey,
      last_checked_at: server.lastCheckedAt,
      last_check_error: server.lastCheckError,
      created_at: server.createdAt,
      updated_at: server.updatedAt,
      ...(await this.#secrets.seal(server.id, credentials)),
    };
    await this.#database.run<unknown>((sql) => sql`insert into servers ${sql(row)}`, NAME_TAKEN);
  }

  async change(
    organizationId: string,
    id: string,
    { change, at }: { readonly change: ServerChange; readonly at: Date },
  ): Promise<Server | undefined> {
    const { sshHost = null, sshPort = null, hostKey = null } = change;
    const values = { ...changedColumns(change), ...(await this.#secrets.seal(id, change)), updated_at: at };
    const [row] = await this.#database.run<readonly ServerRow[]>(
      (sql) => sql<ServerRow[]>`
        update servers set ${sql(values)},
          host_key = case
            when ${change.hostKey !== undefined} then ${hostKey}
            when ssh_host <> ${sshHost} or ssh_port <> ${sshPort} then null
            else host_key end
        where id = ${id} and organization_id = ${organizationId}
        returning ${columns(sql)}`,
      NAME_TAKEN,
    );
    return row && toServer(row);
  }

  async checked(organizationId: string, id: string, check: ServerCheck): Promise<Server | undefined> {
    const [row] = await this.#database.run((sql) => {
      const same = sql`(ssh_host = ${check.sshHost} and ssh_port = ${check.sshPort})`;
      return sql<ServerRow[]>`
        update servers
        set last_checked_at = case when ${same} then ${check.at} else last_checked_at end,
          last_check_error = case when ${same} then ${check.error} else last_check_error end,
          host_key = case when ${same} then coalesce(host_key, ${check.hostKey}) else host_key end
        where id = ${id} and organization_id = ${organizationId}
        returning ${columns(sql)}`;
    });
    return row && toServer(row);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from servers where id = ${id} and organization_id = ${organizationId}`,
    );
    return count > 0;
  }
}

/** Maps the given fields to their columns, without secrets and check results. */
function changedColumns({ name, sshHost, sshPort, sshUser }: ServerChange) {
  return {
    ...(name !== undefined && { name, name_key: nameKey(name) }),
    ...(sshHost !== undefined && { ssh_host: sshHost }),
    ...(sshPort !== undefined && { ssh_port: sshPort }),
    ...(sshUser !== undefined && { ssh_user: sshUser }),
  };
}

function columns(sql: Sql) {
  return sql`id, organization_id, name, ssh_host, ssh_port, ssh_user, host_key,
    sealed_password is not null as has_password, sealed_private_key is not null as has_private_key,
    sealed_key_passphrase is not null as has_key_passphrase, last_checked_at, last_check_error, created_at, updated_at`;
}

function toServer(row: ServerRow): Server {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    sshHost: row.ssh_host,
    sshPort: row.ssh_port,
    sshUser: row.ssh_user,
    hostKey: row.host_key,
    hasSshPassword: row.has_password,
    hasSshPrivateKey: row.has_private_key,
    hasSshKeyPassphrase: row.has_key_passphrase,
    lastCheckedAt: row.last_checked_at,
    lastCheckError: row.last_check_error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function nameKey(name: string): string {
  return name.toLowerCase();
}

function nameTaken(): never {
  throw conflict("name_taken", "Cannot use this name: another server has it; choose another");
}

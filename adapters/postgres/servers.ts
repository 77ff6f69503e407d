import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Secret } from "../../domain/secret.ts";
import type { Server, ServerChange, ServerCredentials } from "../../domain/server.ts";
import type { ServerCheck, Servers } from "../../ports/servers.ts";
import type { Vault } from "../../ports/vault.ts";
import type { Database, Sql } from "./database.ts";
import { readPage } from "./read_page.ts";
import { SEALED_COLUMNS, type SealedColumn, sealedPlace } from "./sealed_columns.ts";

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

interface SealedRow {
  readonly sealed_password: string | null;
  readonly sealed_private_key: string | null;
  readonly sealed_key_passphrase: string | null;
}

const { serverPassword, serverPrivateKey, serverKeyPassphrase } = SEALED_COLUMNS;
const NAME_TAKEN = { servers_name: nameTaken };

/** Keeps servers in PostgreSQL, their secrets sealed. */
export class PostgresServers implements Servers {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
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
      (sql) => sql<SealedRow[]>`
        select sealed_password, sealed_private_key, sealed_key_passphrase
        from servers where id = ${id} and organization_id = ${organizationId}`,
    );
    if (!row) return undefined;
    const [sshPassword, sshPrivateKey, sshKeyPassphrase] = await Promise.all([
      this.#open(serverPassword, id, row.sealed_password),
      this.#open(serverPrivateKey, id, row.sealed_private_key),
      this.#open(serverKeyPassphrase, id, row.sealed_key_passphrase),
    ]);
    return { sshPassword, sshPrivateKey, sshKeyPassphrase };
  }

  async create(server: Server, credentials: ServerCredentials): Promise<void> {
    const sealed = await this.#sealAll(server.id, credentials);
    await this.#database.run<unknown>(
      (sql) => sql`
        insert into servers (id, organization_id, name, name_key, ssh_host, ssh_port, ssh_user, host_key,
          sealed_password, sealed_private_key, sealed_key_passphrase, last_checked_at, last_check_error, created_at,
          updated_at)
        values (${server.id}, ${server.organizationId}, ${server.name}, ${nameKey(server.name)}, ${server.sshHost},
          ${server.sshPort}, ${server.sshUser}, ${server.hostKey}, ${sealed.password}, ${sealed.privateKey},
          ${sealed.keyPassphrase}, ${server.lastCheckedAt}, ${server.lastCheckError}, ${server.createdAt},
          ${server.updatedAt})`,
      NAME_TAKEN,
    );
  }

  async change(
    organizationId: string,
    id: string,
    { change, at }: { readonly change: ServerChange; readonly at: Date },
  ): Promise<Server | undefined> {
    const { name = null, sshHost = null, sshPort = null, sshUser = null, hostKey = null } = change;
    const sealed = await this.#sealAll(id, change);
    const [row] = await this.#database.run<readonly ServerRow[]>(
      (sql) => sql<ServerRow[]>`
        update servers set
          name = coalesce(${name}, name),
          name_key = coalesce(${name === null ? null : nameKey(name)}, name_key),
          ssh_host = coalesce(${sshHost}, ssh_host),
          ssh_port = coalesce(${sshPort}, ssh_port),
          ssh_user = coalesce(${sshUser}, ssh_user),
          host_key = case
            when ${change.hostKey !== undefined} then ${hostKey}
            when ssh_host <> ${sshHost} or ssh_port <> ${sshPort} then null
            else host_key end,
          sealed_password = case
            when ${change.sshPassword !== undefined} then ${sealed.password} else sealed_password end,
          sealed_private_key = case
            when ${change.sshPrivateKey !== undefined} then ${sealed.privateKey} else sealed_private_key end,
          sealed_key_passphrase = case
            when ${change.sshKeyPassphrase !== undefined} then ${sealed.keyPassphrase} else sealed_key_passphrase end,
          updated_at = ${at}
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

  async #sealAll(id: string, { sshPassword, sshPrivateKey, sshKeyPassphrase }: Partial<ServerCredentials>) {
    const [password, privateKey, keyPassphrase] = await Promise.all([
      this.#seal(serverPassword, id, sshPassword),
      this.#seal(serverPrivateKey, id, sshPrivateKey),
      this.#seal(serverKeyPassphrase, id, sshKeyPassphrase),
    ]);
    return { password, privateKey, keyPassphrase };
  }

  async #seal(column: SealedColumn, id: string, secret: Secret | null | undefined): Promise<string | null> {
    return secret ? this.#vault.seal(secret, sealedPlace(column, id)) : null;
  }

  async #open(column: SealedColumn, id: string, sealed: string | null): Promise<Secret | null> {
    return sealed === null ? null : this.#vault.open(sealed, sealedPlace(column, id));
  }
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

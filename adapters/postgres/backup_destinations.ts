import type { BackupDestination, CredentialField, DestinationCredentials } from "../../domain/backups/destination.ts";
import { nameKey } from "../../domain/backups/destination_values.ts";
import { nameTaken } from "../../domain/backups/name_taken.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type {
  BackupDestinations,
  DestinationChange,
  DestinationCheck,
} from "../../ports/backups/backup_destinations.ts";
import type { Vault } from "../../ports/system/vault.ts";
import {
  type DestinationRow,
  destinationColumns,
  insertedValues,
  settingColumns,
  targetColumns,
  toDestination,
} from "./backup_destination_row.ts";
import type { Database, Sql } from "./database.ts";
import { ReadMemory } from "./read_memory.ts";
import { readKnownPage } from "./read_page.ts";
import { SEALED_COLUMNS } from "./sealed_columns.ts";
import { SealedFields } from "./sealed_fields.ts";

const TABLE = "backup_destinations";

type Version = Pick<BackupDestination, "id" | "revision">;

const SEALED = {
  accessKeyId: SEALED_COLUMNS.destinationAccessKeyId,
  secretAccessKey: SEALED_COLUMNS.destinationSecretAccessKey,
  sftpPassword: SEALED_COLUMNS.destinationSftpPassword,
  sftpPrivateKey: SEALED_COLUMNS.destinationSftpPrivateKey,
  sftpKeyPassphrase: SEALED_COLUMNS.destinationSftpKeyPassphrase,
};

const NAME_TAKEN = {
  backup_destinations_name: () => {
    throw nameTaken();
  },
};

/** Stores backup destinations in PostgreSQL with encrypted secrets. Every operation is one statement. */
export class PostgresBackupDestinations implements BackupDestinations {
  readonly #database: Database;
  readonly #secrets: SealedFields<CredentialField>;
  readonly #pages = new ReadMemory<readonly BackupDestination[]>();

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#secrets = new SealedFields(vault, SEALED);
  }

  async list(
    organizationId: string,
    { ids }: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<BackupDestination>> {
    return readKnownPage(
      this.#database,
      { key: JSON.stringify([organizationId, ids]), page, memory: this.#pages },
      (sql) => ({
        columns: destinationColumns(sql, TABLE),
        version: sql`id || ' ' || xmin || ' ' || exists (
          select 1 from default_backup_destinations where destination_id = ${sql(TABLE)}.id)`,
        from: sql`${sql(TABLE)} where organization_id = ${organizationId}
          ${ids ? sql`and id = any (${ids}::text[])` : sql``}`,
        order: sql`created_at desc, id desc`,
      }),
      toDestination,
    );
  }

  async find(organizationId: string, id: string): Promise<BackupDestination | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DestinationRow[]>`
        select ${destinationColumns(sql, TABLE)} from backup_destinations
        where id = ${id} and organization_id = ${organizationId}`,
    );
    return row && toDestination(row);
  }

  async credentials(organizationId: string, { id, revision }: Version): Promise<DestinationCredentials | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<Record<string, string | null>[]>`
        select ${this.#secrets.columns(sql)} from backup_destinations
        where id = ${id} and organization_id = ${organizationId} and revision = ${revision}`,
    );
    return row && this.#secrets.open(id, row);
  }

  async create(destination: BackupDestination, credentials: DestinationCredentials): Promise<void> {
    const sealed = await this.#secrets.seal(destination.id, credentials);
    const { organizationId, id, isDefault } = destination;
    const row = { ...insertedValues(destination), ...sealed };
    await this.#database.run<unknown>(
      (sql) => sql`
        with created as (insert into backup_destinations ${sql(row)} returning id)
        insert into default_backup_destinations (organization_id, destination_id)
        select ${organizationId}, ${id} from created where ${isDefault}
        on conflict (organization_id) do update set destination_id = excluded.destination_id`,
      NAME_TAKEN,
    );
  }

  async change(
    organizationId: string,
    { id, revision, sshHostKey }: Version & Pick<BackupDestination, "sshHostKey">,
    change: DestinationChange,
  ): Promise<BackupDestination | undefined> {
    const { name, settings, isDefault, moved, at } = change;
    const values = {
      name,
      name_key: nameKey(name),
      ...settingColumns(settings),
      ...targetColumns(change.credentialTargets),
      ...(await this.#secrets.seal(id, change.credentials)),
      ...(moved && { last_verified_at: null, last_verify_error: null }),
      revision: revision + 1,
      updated_at: at,
    };
    const [row] = await this.#database.run<readonly DestinationRow[]>(
      (sql) => sql<DestinationRow[]>`
        with changed as (
          update backup_destinations set ${sql(values)}
          where id = ${id} and organization_id = ${organizationId} and revision = ${revision}
            and ssh_host_key is not distinct from ${sshHostKey}
          returning *
        ), chosen as (${isDefault ? choose(sql) : unchoose(sql, isDefault === false)} returning 1)
        select ${destinationColumns(sql, "changed", isDefault)} from changed`,
      NAME_TAKEN,
    );
    return row && toDestination(row);
  }

  async checked(organizationId: string, { id, revision }: Version, check: DestinationCheck): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update backup_destinations
        set last_verified_at = case when ${check.error === null} then ${check.at} else last_verified_at end,
          last_verify_error = ${check.error},
          ssh_host_key = coalesce(ssh_host_key, ${check.hostKey}),
          left_probes = ${check.leftProbes}::text[]
        where id = ${id} and organization_id = ${organizationId} and revision = ${revision}`,
    );
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from backup_destinations where id = ${id} and organization_id = ${organizationId}`,
    );
    return count > 0;
  }
}

function choose(sql: Sql) {
  return sql`
    insert into default_backup_destinations (organization_id, destination_id) select organization_id, id from changed
    on conflict (organization_id) do update set destination_id = excluded.destination_id`;
}

function unchoose(sql: Sql, really: boolean) {
  return sql`delete from default_backup_destinations where ${really} and destination_id in (select id from changed)`;
}

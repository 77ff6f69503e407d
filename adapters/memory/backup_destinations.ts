import { type BackupDestination, type DestinationCredentials, flagsOf } from "../../domain/backups/destination.ts";
import { nameKey } from "../../domain/backups/destination_values.ts";
import { nameTaken } from "../../domain/backups/name_taken.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type {
  BackupDestinations,
  DestinationChange,
  DestinationCheck,
} from "../../ports/backups/backup_destinations.ts";
import { copied } from "./copied.ts";
import type { DestinationRow, MemoryTables } from "./memory_tables.ts";
import { nameIsTaken } from "./name_is_taken.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";
import { withGiven } from "./with_given.ts";

/** Keeps backup destinations in memory. */
export class MemoryBackupDestinations implements BackupDestinations {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(
    organizationId: string,
    { ids }: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<BackupDestination>> {
    const rows = this.#tables.backupDestinations
      .values()
      .filter(({ destination }) => destination.organizationId === organizationId)
      .filter(({ destination }) => !ids || ids.includes(destination.id))
      .map((row) => this.#seen(row));
    return newestFirst(rows, page, BY_CREATION);
  }

  async find(organizationId: string, id: string): Promise<BackupDestination | undefined> {
    const row = this.#stored(organizationId, id);
    return row && this.#seen(row);
  }

  async credentials(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
  ): Promise<DestinationCredentials | undefined> {
    const row = this.#stored(organizationId, id);
    return row?.destination.revision === revision ? { ...row.credentials } : undefined;
  }

  async create(destination: BackupDestination, credentials: DestinationCredentials): Promise<void> {
    this.#refuseTakenName(destination);
    this.#store(destination, credentials);
    this.#choose(destination, destination.isDefault || undefined);
  }

  async change(
    organizationId: string,
    { id, revision, sshHostKey }: Pick<BackupDestination, "id" | "revision" | "sshHostKey">,
    { name, isDefault, settings, credentials, credentialTargets, moved, at }: DestinationChange,
  ): Promise<BackupDestination | undefined> {
    const row = this.#stored(organizationId, id);
    if (row?.destination.revision !== revision || row.destination.sshHostKey !== sshHostKey) return undefined;
    const found = moved ? { lastVerifiedAt: null, lastVerifyError: null } : {};
    const changed = { ...settings, ...found, credentialTargets, name, updatedAt: at, revision: revision + 1 };
    const destination = { ...row.destination, ...changed };
    this.#refuseTakenName(destination);
    this.#choose(destination, isDefault);
    return this.#seen(this.#store(destination, withGiven(row.credentials, credentials)));
  }

  async checked(
    organizationId: string,
    { id, revision }: Pick<BackupDestination, "id" | "revision">,
    { at, error, hostKey, leftProbes }: DestinationCheck,
  ): Promise<void> {
    const row = this.#stored(organizationId, id);
    if (row?.destination.revision !== revision) return;
    const { lastVerifiedAt, sshHostKey } = row.destination;
    const found = {
      lastVerifiedAt: error === null ? at : lastVerifiedAt,
      lastVerifyError: error,
      sshHostKey: sshHostKey ?? hostKey,
      leftProbes,
    };
    this.#store({ ...row.destination, ...found }, row.credentials);
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const row = this.#stored(organizationId, id);
    if (!row) return false;
    this.#choose(row.destination, false);
    return this.#tables.backupDestinations.delete(id);
  }

  #stored(organizationId: string, id: string): DestinationRow | undefined {
    const row = this.#tables.backupDestinations.get(id);
    return row?.destination.organizationId === organizationId ? row : undefined;
  }

  #seen({ destination }: DestinationRow): BackupDestination {
    const isDefault = this.#tables.defaultBackupDestinations.get(destination.organizationId) === destination.id;
    const gone = destination.serverId !== null && !this.#tables.servers.has(destination.serverId);
    return copied({ ...destination, isDefault, serverId: gone ? null : destination.serverId });
  }

  #store(destination: DestinationRow["destination"], credentials: DestinationCredentials): DestinationRow {
    const row = {
      destination: copied({ ...destination, ...flagsOf(credentials) }),
      credentials: { ...credentials },
    };
    this.#tables.backupDestinations.set(destination.id, row);
    return row;
  }

  #choose({ organizationId, id }: Pick<BackupDestination, "organizationId" | "id">, chosen: boolean | undefined): void {
    const defaults = this.#tables.defaultBackupDestinations;
    if (chosen) defaults.set(organizationId, id);
    if (chosen === false && defaults.get(organizationId) === id) defaults.delete(organizationId);
  }

  #refuseTakenName(destination: Pick<BackupDestination, "id" | "organizationId" | "name">): void {
    const all = this.#tables.backupDestinations.values().map((row) => row.destination);
    if (nameIsTaken(all, destination, nameKey)) throw nameTaken();
  }
}

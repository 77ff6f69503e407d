import { conflict } from "../../domain/failure.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Server, ServerChange, ServerCredentials } from "../../domain/servers/server.ts";
import type { ServerCheck, Servers } from "../../ports/servers/servers.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { nameIsTaken } from "./name_is_taken.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";
import { withGiven } from "./with_given.ts";

/** Keeps servers in memory. */
export class MemoryServers implements Servers {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(
    organizationId: string,
    { ids }: { readonly ids?: readonly string[] },
    page: Page,
  ): Promise<Listing<Server>> {
    const rows = this.#tables.servers
      .values()
      .map(({ server }) => server)
      .filter((server) => server.organizationId === organizationId && (!ids || ids.includes(server.id)));
    return newestFirst(rows, page, BY_CREATION);
  }

  async find(organizationId: string, id: string): Promise<Server | undefined> {
    return copied(this.#stored(organizationId, id)?.server);
  }

  async credentials(organizationId: string, id: string): Promise<ServerCredentials | undefined> {
    const credentials = this.#stored(organizationId, id)?.credentials;
    return credentials && { ...credentials };
  }

  async create(server: Server, credentials: ServerCredentials): Promise<void> {
    this.#refuseTakenName(server);
    this.#store(server, credentials);
  }

  async change(
    organizationId: string,
    id: string,
    { change, at }: { readonly change: ServerChange; readonly at: Date },
  ): Promise<Server | undefined> {
    const row = this.#stored(organizationId, id);
    if (!row) return undefined;
    const { sshPassword, sshPrivateKey, sshKeyPassphrase, ...rest } = change;
    const moved = isNew(change.sshHost, row.server.sshHost) || isNew(change.sshPort, row.server.sshPort);
    const hostKey = change.hostKey === undefined ? (moved ? null : row.server.hostKey) : change.hostKey;
    const server = { ...row.server, ...rest, hostKey, updatedAt: at };
    this.#refuseTakenName(server);
    return this.#store(server, withGiven(row.credentials, { sshPassword, sshPrivateKey, sshKeyPassphrase }));
  }

  async checked(organizationId: string, id: string, check: ServerCheck): Promise<Server | undefined> {
    const row = this.#stored(organizationId, id);
    if (!row) return undefined;
    const { sshHost, sshPort } = row.server;
    if (sshHost !== check.sshHost || sshPort !== check.sshPort) return this.find(organizationId, id);
    const hostKey = row.server.hostKey ?? check.hostKey;
    return this.#store(
      { ...row.server, hostKey, lastCheckedAt: check.at, lastCheckError: check.error },
      row.credentials,
    );
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    return this.#stored(organizationId, id) !== undefined && this.#tables.servers.delete(id);
  }

  #stored(organizationId: string, id: string) {
    const row = this.#tables.servers.get(id);
    return row?.server.organizationId === organizationId ? row : undefined;
  }

  #store(server: Server, credentials: ServerCredentials): Server {
    const stored = copied({
      ...server,
      hasSshPassword: credentials.sshPassword !== null,
      hasSshPrivateKey: credentials.sshPrivateKey !== null,
      hasSshKeyPassphrase: credentials.sshKeyPassphrase !== null,
    });
    this.#tables.servers.set(server.id, { server: stored, credentials: { ...credentials } });
    return copied(stored);
  }

  #refuseTakenName(server: Server): void {
    const all = this.#tables.servers.values().map((row) => row.server);
    if (nameIsTaken(all, server, (name) => name.toLowerCase()))
      throw conflict("name_taken", "Cannot use this name: another server has it; choose another");
  }
}

function isNew<T>(given: T | undefined, stored: T): boolean {
  return given !== undefined && given !== stored;
}

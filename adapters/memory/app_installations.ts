import type { AppInstallation } from "../../domain/githost/app_installation.ts";
import type { AppInstallations } from "../../ports/githost/app_installations.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps app installations in memory. */
export class MemoryAppInstallations implements AppInstallations {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(organizationId: string): Promise<readonly AppInstallation[]> {
    const own = this.#tables.installations.values().filter((row) => row.organizationId === organizationId);
    return copied([...own].sort((a, b) => a.connectedAt.getTime() - b.connectedAt.getTime() || a.id - b.id));
  }

  async find(id: number): Promise<AppInstallation | undefined> {
    return copied(this.#tables.installations.get(id));
  }

  async connect(installation: AppInstallation): Promise<boolean> {
    const { id, organizationId, account, suspended } = installation;
    const former = this.#tables.installations.get(id);
    if (former && former.organizationId !== organizationId) return false;
    this.#tables.installations.set(id, copied(former ? { ...former, account, suspended } : installation));
    return true;
  }

  async suspend(id: number, suspended: boolean): Promise<boolean> {
    const former = this.#tables.installations.get(id);
    if (former) this.#tables.installations.set(id, { ...former, suspended });
    return former !== undefined;
  }

  async remove(id: number): Promise<boolean> {
    return this.#tables.installations.delete(id);
  }
}

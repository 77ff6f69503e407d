import type { Listing, Page } from "../../domain/page.ts";
import type { AuditEntry, AuditFilter, AuditLog, AuditOutcome } from "../../ports/identity/audit_log.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";
import { newestFirst } from "./newest_first.ts";

/** Keeps the audit log in memory. */
export class MemoryAuditLog implements AuditLog {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async record(entry: AuditEntry): Promise<void> {
    this.#tables.audit.set(entry.id, copied(entry));
  }

  async finish(id: string, end: { readonly outcome: AuditOutcome; readonly target: string | null }): Promise<void> {
    const entry = this.#tables.audit.get(id);
    if (entry) this.#tables.audit.set(id, { ...entry, outcome: end.outcome, target: end.target ?? entry.target });
  }

  async list(organizationId: string, filter: AuditFilter, page: Page): Promise<Listing<AuditEntry>> {
    const { userId, action, target } = filter;
    const rows = this.#tables.audit
      .values()
      .filter((entry) => entry.organizationId === organizationId)
      .filter((entry) => userId === undefined || entry.userId === userId)
      .filter((entry) => action === undefined || entry.action === action)
      .filter((entry) => target === undefined || entry.target === target);
    return newestFirst(rows, page, { at: ({ at }) => at, id: ({ id }) => id });
  }

  async sweep(before: Date): Promise<number> {
    const old = [...this.#tables.audit.values()].filter(({ at }) => at < before);
    for (const { id } of old) this.#tables.audit.delete(id);
    return old.length;
  }
}

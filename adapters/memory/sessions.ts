import type { Session, Sessions } from "../../ports/identity/sessions.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps login sessions in memory. */
export class MemorySessions implements Sessions {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(session: Session, fingerprint: string): Promise<void> {
    this.#tables.sessions.set(session.id, { session: copied(session), fingerprint });
  }

  async end(id: string): Promise<void> {
    this.#tables.sessions.delete(id);
  }

  async endOthers(userId: string, keepId: string | null): Promise<void> {
    this.#removeWhere((session) => session.userId === userId && session.id !== keepId);
  }

  async sweep(before: Date): Promise<number> {
    return this.#removeWhere((session) => session.expiresAt < before);
  }

  #removeWhere(matches: (session: Session) => boolean): number {
    const rows = [...this.#tables.sessions.values()].filter(({ session }) => matches(session));
    for (const { session } of rows) this.#tables.sessions.delete(session.id);
    return rows.length;
  }
}

import { UPLOAD_MS, type UploadSession } from "../../domain/upload.ts";
import type { ReceivedUpload } from "../../ports/upload_files.ts";
import type { UploadSessions } from "../../ports/upload_sessions.ts";
import type { MemoryTables } from "./memory_tables.ts";

interface Lease {
  readonly at: Date;
  readonly leaseMs: number;
}

/** Keeps upload sessions in memory. */
export class MemoryUploadSessions implements UploadSessions {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(session: UploadSession): Promise<void> {
    this.#tables.uploads.set(session.id, { session: structuredClone(session), leaseUntil: null });
  }

  async find(organizationId: string, id: string): Promise<UploadSession | undefined> {
    const session = this.#tables.uploads.get(id)?.session;
    return session?.organizationId === organizationId ? structuredClone(session) : undefined;
  }

  async begin(id: string, { at, leaseMs }: Lease): Promise<boolean> {
    const row = this.#tables.uploads.get(id);
    if (!row || row.session.expiresAt <= at) return false;
    const abandoned = row.session.state === "receiving" && (row.leaseUntil === null || row.leaseUntil <= at);
    if (row.session.state !== "open" && !abandoned) return false;
    const leaseUntil = new Date(at.getTime() + leaseMs);
    this.#tables.uploads.set(id, { session: { ...row.session, state: "receiving" }, leaseUntil });
    return true;
  }

  async renew(id: string, { at, leaseMs }: Lease): Promise<void> {
    const session = this.#receiving(id);
    if (session) this.#tables.uploads.set(id, { session, leaseUntil: new Date(at.getTime() + leaseMs) });
  }

  async complete(id: string, { bytes, sha256, files }: ReceivedUpload, at: Date): Promise<void> {
    const session = this.#receiving(id);
    if (!session) return;
    const expiresAt = new Date(at.getTime() + UPLOAD_MS);
    const ready = { ...session, state: "ready" as const, bytes, sha256, files, expiresAt };
    this.#tables.uploads.set(id, { session: ready, leaseUntil: null });
  }

  async giveUp(id: string): Promise<void> {
    const session = this.#receiving(id);
    if (session) this.#tables.uploads.set(id, { session: { ...session, state: "open" }, leaseUntil: null });
  }

  async sweep(before: Date): Promise<readonly string[]> {
    const expired = [...this.#tables.uploads.values()]
      .filter(({ session }) => session.expiresAt < before && session.state !== "used")
      .filter(({ session, leaseUntil }) => session.state !== "receiving" || !leaseUntil || leaseUntil < before)
      .map(({ session }) => session.id);
    for (const id of expired) this.#tables.uploads.delete(id);
    return expired;
  }

  async known(id: string): Promise<boolean> {
    return this.#tables.uploads.has(id);
  }

  #receiving(id: string): UploadSession | undefined {
    const session = this.#tables.uploads.get(id)?.session;
    return session?.state === "receiving" ? session : undefined;
  }
}

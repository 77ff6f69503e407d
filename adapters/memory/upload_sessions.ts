import { UPLOAD_MS, type UploadQuota, type UploadSession } from "../../domain/upload.ts";
import type { ReceivedUpload } from "../../ports/upload_files.ts";
import type { UploadCreation, UploadSessions } from "../../ports/upload_sessions.ts";
import type { MemoryTables } from "./memory_tables.ts";

interface Term {
  readonly at: Date;
  readonly leaseMs: number;
}

/** Keeps upload sessions in memory. */
export class MemoryUploadSessions implements UploadSessions {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(session: UploadSession, quota: UploadQuota): Promise<UploadCreation> {
    const waiting = [...this.#tables.uploads.values()]
      .map((row) => row.session)
      .filter(({ state, expiresAt }) => state !== "used" && expiresAt > session.createdAt);
    if (waiting.filter(({ userId }) => userId === session.userId).length >= quota.perUser) return "user_full";
    const ours = waiting.filter(({ organizationId }) => organizationId === session.organizationId);
    if (ours.length >= quota.perOrganization) return "organization_full";
    this.#tables.uploads.set(session.id, { session: structuredClone(session), lease: null });
    return "created";
  }

  async find(organizationId: string, id: string): Promise<UploadSession | undefined> {
    const session = this.#tables.uploads.get(id)?.session;
    return session?.organizationId === organizationId ? structuredClone(session) : undefined;
  }

  async begin(id: string, { at, leaseMs }: Term): Promise<string | undefined> {
    const row = this.#tables.uploads.get(id);
    if (!row || row.session.expiresAt <= at) return undefined;
    const abandoned = row.session.state === "receiving" && (row.lease === null || row.lease.until <= at);
    if (row.session.state !== "open" && !abandoned) return undefined;
    const lease = { id: crypto.randomUUID(), until: new Date(at.getTime() + leaseMs) };
    this.#tables.uploads.set(id, { session: { ...row.session, state: "receiving" }, lease });
    return lease.id;
  }

  async renew(id: string, lease: string, { at, leaseMs }: Term): Promise<boolean> {
    const session = this.#received(id, lease);
    if (!session) return false;
    const until = new Date(at.getTime() + leaseMs);
    this.#tables.uploads.set(id, { session, lease: { id: lease, until } });
    return true;
  }

  async complete(id: string, lease: string, { bytes, sha256, files }: ReceivedUpload, at: Date): Promise<boolean> {
    const session = this.#received(id, lease);
    if (!session) return false;
    const expiresAt = new Date(at.getTime() + UPLOAD_MS);
    const ready = { ...session, state: "ready" as const, bytes, sha256, files, expiresAt };
    this.#tables.uploads.set(id, { session: ready, lease: null });
    return true;
  }

  async giveUp(id: string, lease: string): Promise<void> {
    const session = this.#received(id, lease);
    if (session) this.#tables.uploads.set(id, { session: { ...session, state: "open" }, lease: null });
  }

  async sweep(before: Date, stored: readonly string[]): Promise<readonly string[]> {
    const expired = [...this.#tables.uploads.values()]
      .filter(({ session }) => session.expiresAt < before && session.state !== "used")
      .filter(({ session, lease }) => session.state !== "receiving" || !lease || lease.until < before)
      .map(({ session }) => session.id);
    for (const id of expired) this.#tables.uploads.delete(id);
    const orphans = stored.filter((id) => !this.#isNeeded(id));
    return [...new Set([...expired, ...orphans])];
  }

  #isNeeded(id: string): boolean {
    const state = this.#tables.uploads.get(id)?.session.state;
    if (state !== "used") return state !== undefined;
    return [...this.#tables.deployments.values()].some(({ deployment: { source, status } }) => {
      const isToBeBuilt = status === "queued" || status === "building";
      return isToBeBuilt && source.kind === "upload" && source.uploadId === id;
    });
  }

  #received(id: string, lease: string): UploadSession | undefined {
    const row = this.#tables.uploads.get(id);
    return row?.session.state === "receiving" && row.lease?.id === lease ? row.session : undefined;
  }
}

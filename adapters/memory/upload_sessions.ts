import { UPLOAD_MS, type UploadQuota, type UploadSession } from "../../domain/upload.ts";
import type { ReceivedUpload } from "../../ports/upload_files.ts";
import type {
  FoundUploadSession,
  NewUploadSession,
  UploadCreation,
  UploadSessions,
} from "../../ports/upload_sessions.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Keeps upload sessions in memory. */
export class MemoryUploadSessions implements UploadSessions {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(
    given: NewUploadSession,
    { lifetimeMs, quota }: { readonly lifetimeMs: number; readonly quota: UploadQuota },
  ): Promise<UploadCreation> {
    const createdAt = this.#tables.clock.now();
    const waiting = [...this.#tables.uploads.values()]
      .map((row) => row.session)
      .filter(({ state, expiresAt }) => state !== "used" && expiresAt > createdAt);
    if (waiting.filter(({ userId }) => userId === given.userId).length >= quota.perUser)
      return { outcome: "user_full" };
    const ours = waiting.filter(({ organizationId }) => organizationId === given.organizationId);
    if (ours.length >= quota.perOrganization) return { outcome: "organization_full" };
    const session = { ...copied(given), createdAt, expiresAt: this.#after(lifetimeMs) };
    this.#tables.uploads.set(session.id, { session, lease: null });
    return { outcome: "created", session: copied(session) };
  }

  async find(organizationId: string, id: string): Promise<FoundUploadSession | undefined> {
    const session = this.#tables.uploads.get(id)?.session;
    if (session?.organizationId !== organizationId) return undefined;
    return { ...copied(session), expired: session.expiresAt <= this.#tables.clock.now() };
  }

  async begin(id: string, leaseMs: number): Promise<string | undefined> {
    const row = this.#tables.uploads.get(id);
    const at = this.#tables.clock.now();
    if (!row || row.session.expiresAt <= at) return undefined;
    const abandoned = row.session.state === "receiving" && (row.lease === null || row.lease.until <= at);
    if (row.session.state !== "open" && !abandoned) return undefined;
    const lease = { id: crypto.randomUUID(), until: this.#after(leaseMs) };
    this.#tables.uploads.set(id, { session: { ...row.session, state: "receiving" }, lease });
    return lease.id;
  }

  async renew(id: string, lease: string, leaseMs: number): Promise<boolean> {
    const session = this.#received(id, lease);
    if (!session) return false;
    this.#tables.uploads.set(id, { session, lease: { id: lease, until: this.#after(leaseMs) } });
    return true;
  }

  async complete(id: string, lease: string, { bytes, sha256, files }: ReceivedUpload): Promise<boolean> {
    const session = this.#received(id, lease);
    if (!session) return false;
    const ready = { ...session, state: "ready" as const, bytes, sha256, files, expiresAt: this.#after(UPLOAD_MS) };
    this.#tables.uploads.set(id, { session: ready, lease: null });
    return true;
  }

  async giveUp(id: string, lease: string): Promise<void> {
    const session = this.#received(id, lease);
    if (session) this.#tables.uploads.set(id, { session: { ...session, state: "open" }, lease: null });
  }

  async sweep(stored: readonly string[]): Promise<readonly string[]> {
    const before = this.#tables.clock.now();
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

  #after(ms: number): Date {
    return new Date(this.#tables.clock.now().getTime() + ms);
  }

  #received(id: string, lease: string): UploadSession | undefined {
    const row = this.#tables.uploads.get(id);
    return row?.session.state === "receiving" && row.lease?.id === lease ? row.session : undefined;
  }
}

import type { Listing, Page } from "../../domain/page.ts";
import { UPLOAD_MS, type UploadQuota, type UploadSession } from "../../domain/projects/upload.ts";
import type { ReceivedUpload } from "../../ports/projects/upload_files.ts";
import type {
  FoundUploadSession,
  NewUploadSession,
  UploadCreation,
  UploadSessions,
} from "../../ports/projects/upload_sessions.ts";
import { copied } from "./copied.ts";
import type { MemoryTables, UploadRow } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

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
    const waiting = this.#waiting();
    const mine = waiting.filter(({ session }) => session.userId === given.userId);
    const isHere = ({ session }: UploadRow) => session.organizationId === given.organizationId;
    const ours = waiting.filter(isHere).length;
    const tooMany = Math.max(mine.length - quota.perUser + 1, ours - quota.perOrganization + 1, 0);
    const displaced = mine
      .filter((row) => !isBeingReceived(row, createdAt))
      .toSorted((a, b) => Number(isHere(b)) - Number(isHere(a)) || oldestFirst(a.session, b.session))
      .slice(0, tooMany);
    if (displaced.length < tooMany || ours - displaced.filter(isHere).length >= quota.perOrganization)
      return { outcome: ours >= quota.perOrganization ? "organization_full" : "user_full" };
    for (const { session } of displaced) this.#tables.uploads.delete(session.id);
    const session = { ...copied(given), createdAt, expiresAt: this.#after(lifetimeMs) };
    this.#tables.uploads.set(session.id, { session, lease: null });
    return { outcome: "created", session: copied(session), displaced: displaced.map((row) => row.session.id) };
  }

  async list(organizationId: string, userId: string, page: Page): Promise<Listing<UploadSession>> {
    const own = this.#waiting()
      .map(({ session }) => session)
      .filter((session) => session.organizationId === organizationId && session.userId === userId);
    return newestFirst(own, page, BY_CREATION);
  }

  async remove(organizationId: string, userId: string, id: string): Promise<boolean> {
    const session = this.#tables.uploads.get(id)?.session;
    const isOwn = session?.organizationId === organizationId && session.userId === userId;
    return isOwn && session.state !== "used" && this.#tables.uploads.delete(id);
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
    if (row.session.state === "used" || isBeingReceived(row, at)) return undefined;
    const lease = { id: crypto.randomUUID(), until: this.#after(leaseMs) };
    const session = { ...row.session, state: "receiving" as const, bytes: null, sha256: null, files: null };
    this.#tables.uploads.set(id, { session, lease });
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

  /** Returns the unexpired, unused sessions. */
  #waiting(): UploadRow[] {
    const now = this.#tables.clock.now();
    const rows = [...this.#tables.uploads.values()];
    return rows.filter(({ session }) => session.state !== "used" && session.expiresAt > now);
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

function isBeingReceived({ session, lease }: UploadRow, at: Date): boolean {
  return session.state === "receiving" && lease !== null && lease.until > at;
}

function oldestFirst(a: UploadSession, b: UploadSession): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

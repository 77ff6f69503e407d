import type { Identity, Membership } from "../../domain/identity/identity.ts";
import type { Identities } from "../../ports/identity/identities.ts";
import { copied } from "./copied.ts";
import type { MemoryTables } from "./memory_tables.ts";

type Known = Omit<Identity, "founder" | "memberships">;

/** Looks up identities in memory. Records the use of a token at once. */
export class MemoryIdentities implements Identities {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(kind: "token" | "session", fingerprint: string): Promise<Identity | undefined> {
    const known = kind === "token" ? this.#byToken(fingerprint) : this.#bySession(fingerprint);
    const user = known && this.#tables.users.get(known.userId);
    if (!known || !user) return undefined;
    return copied({ ...known, founder: user.founder, memberships: this.#memberships(user.id) });
  }

  used({ kind, id }: Identity["credential"], at: Date): void {
    const row = kind === "token" ? this.#tables.tokens.get(id) : undefined;
    if (!row || (row.token.lastUsedAt && row.token.lastUsedAt >= at)) return;
    this.#tables.tokens.set(id, { ...row, token: { ...row.token, lastUsedAt: new Date(at) } });
  }

  #byToken(fingerprint: string): Known | undefined {
    const row = this.#tables.tokens
      .values()
      .find((stored) => stored.fingerprint === fingerprint && stored.revokedAt === null);
    if (!row) return undefined;
    const { id, userId, organizationId, expiresAt, narrowing, link } = row.token;
    const credential = { kind: "token", id, ...(link && { link }) } as const;
    return { userId, credential, expiresAt, narrowing, boundTo: organizationId };
  }

  #bySession(fingerprint: string): Known | undefined {
    const row = this.#tables.sessions.values().find((stored) => stored.fingerprint === fingerprint);
    if (!row) return undefined;
    const { id, userId, expiresAt } = row.session;
    return { userId, credential: { kind: "session", id }, expiresAt, narrowing: null, boundTo: null };
  }

  #memberships(userId: string): Membership[] {
    return [...this.#tables.members.values()]
      .filter((row) => row.userId === userId)
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      .map(({ organizationId, role, grants }) => ({ organizationId, role, grants }));
  }
}

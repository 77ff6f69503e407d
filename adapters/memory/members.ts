import type { Member } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Grant, Role } from "../../domain/identity/permission.ts";
import type { MemberOutcome, Members } from "../../ports/identity/members.ts";
import { copied } from "./copied.ts";
import { memberKey, type MemberRow, type MemoryTables } from "./memory_tables.ts";
import { newestFirst } from "./newest_first.ts";

/** Keeps memberships in memory. */
export class MemoryMembers implements Members {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(organizationId: string, page: Page): Promise<Listing<Member>> {
    const rows = this.#tables.members.values().filter((row) => row.organizationId === organizationId);
    const { items, total } = newestFirst(rows, page, { at: (row) => row.createdAt, id: (row) => row.userId });
    return { items: items.flatMap((row) => this.#memberOf(row) ?? []), total };
  }

  async find(organizationId: string, userId: string): Promise<Member | undefined> {
    return this.#memberOf(this.#tables.members.get(memberKey(organizationId, userId)));
  }

  async change(
    organizationId: string,
    userId: string,
    to: { readonly role: Role; readonly grants: readonly Grant[] },
  ): Promise<MemberOutcome> {
    const key = memberKey(organizationId, userId);
    const row = this.#tables.members.get(key);
    if (!row) return "missing";
    if (to.role !== "owner" && this.#isLastOwner(row)) return "last_owner";
    this.#tables.members.set(key, { ...row, role: to.role, grants: copied(to.grants) });
    return "done";
  }

  async remove(organizationId: string, userId: string): Promise<MemberOutcome> {
    const key = memberKey(organizationId, userId);
    const row = this.#tables.members.get(key);
    if (!row) return "missing";
    if (this.#isLastOwner(row)) return "last_owner";
    this.#tables.members.delete(key);
    this.#tables.oauthAccounts.delete(key);
    this.#tables.deviceAttempts.delete(key);
    for (const [hash, attempt] of this.#tables.connectAttempts) {
      if (memberKey(attempt.organizationId, attempt.userId) === key) this.#tables.connectAttempts.delete(hash);
    }
    for (const [id, stored] of this.#tables.tokens) {
      const { token } = stored;
      if (token.organizationId === organizationId && token.userId === userId) {
        this.#tables.tokens.set(id, { ...stored, revokedAt: new Date() });
      }
    }
    return "done";
  }

  #isLastOwner(row: MemberRow): boolean {
    const owners = this.#tables.members
      .values()
      .filter(({ organizationId, role }) => organizationId === row.organizationId && role === "owner");
    return row.role === "owner" && [...owners].length === 1;
  }

  #memberOf(row: MemberRow | undefined): Member | undefined {
    const user = row && this.#tables.users.get(row.userId);
    return user && { ...copied(row), email: user.email, name: user.name };
  }
}

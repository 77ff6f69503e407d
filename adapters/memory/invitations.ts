import { conflict } from "../../domain/failure.ts";
import type { Invitation } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Invitations, InvitationTaker } from "../../ports/identity/invitations.ts";
import { copied } from "./copied.ts";
import { memberKey, type MemoryTables } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

/** Keeps pending invitations in memory. An accepted or withdrawn invitation is deleted. */
export class MemoryInvitations implements Invitations {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(invitation: Invitation, tokenFingerprint: string): Promise<void> {
    const { email, organizationId } = invitation;
    const former = this.#forAddress(organizationId, email);
    if (former) this.#tables.invitations.delete(former.id);
    this.#tables.invitations.set(invitation.id, {
      invitation: copied(invitation),
      fingerprint: tokenFingerprint,
    });
  }

  async findByToken(tokenFingerprint: string): Promise<Invitation | undefined> {
    const row = this.#tables.invitations.values().find(({ fingerprint }) => fingerprint === tokenFingerprint);
    return copied(row?.invitation);
  }

  async find(organizationId: string, id: string): Promise<Invitation | undefined> {
    const invitation = this.#tables.invitations.get(id)?.invitation;
    return invitation?.organizationId === organizationId ? copied(invitation) : undefined;
  }

  async findByEmail(organizationId: string, email: string): Promise<Invitation | undefined> {
    return copied(this.#forAddress(organizationId, email));
  }

  async list(organizationId: string, at: Date, page: Page): Promise<Listing<Invitation>> {
    const rows = this.#tables.invitations
      .values()
      .map(({ invitation }) => invitation)
      .filter((invitation) => invitation.organizationId === organizationId && invitation.expiresAt > at);
    return newestFirst(rows, page, BY_CREATION);
  }

  async accept(id: string, taker: InvitationTaker, at: Date): Promise<boolean> {
    const { invitations, members } = this.#tables;
    const invitation = invitations.get(id)?.invitation;
    if (!invitation) return false;
    if (taker.kind === "new") this.#addUser(invitation.email, taker, at);
    invitations.delete(id);
    const { organizationId, role, grants } = invitation;
    const key = memberKey(organizationId, taker.userId);
    if (!members.has(key)) {
      members.set(key, { organizationId, userId: taker.userId, role, grants, createdAt: new Date(at) });
    }
    return true;
  }

  async remove(organizationId: string, id: string): Promise<boolean> {
    const { invitations } = this.#tables;
    return invitations.get(id)?.invitation.organizationId === organizationId && invitations.delete(id);
  }

  async sweep(before: Date): Promise<number> {
    const { invitations } = this.#tables;
    const expired = [...invitations.values()].filter(({ invitation }) => invitation.expiresAt < before);
    for (const { invitation } of expired) invitations.delete(invitation.id);
    return expired.length;
  }

  #forAddress(organizationId: string, email: string): Invitation | undefined {
    const rows = this.#tables.invitations.values().map(({ invitation }) => invitation);
    return rows.find((invitation) => invitation.organizationId === organizationId && invitation.email === email);
  }

  #addUser(email: string, { userId, name, passwordHash }: InvitationTaker & { readonly kind: "new" }, at: Date): void {
    const { users } = this.#tables;
    if (users.values().some((user) => user.email === email)) {
      throw conflict("email_taken", "Cannot create this account: the address has one; log in and accept again");
    }
    users.set(userId, { id: userId, email, name, founder: false, passwordHash, createdAt: new Date(at) });
  }
}

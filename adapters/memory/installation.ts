import type { User } from "../../domain/identity/identity.ts";
import type { FirstOwner, Installation } from "../../ports/identity/installation.ts";
import { copied } from "./copied.ts";
import { memberKey, type MemoryTables } from "./memory_tables.ts";
import { userOf } from "./users.ts";

/** Keeps the installation and its first owner in memory. */
export class MemoryInstallation implements Installation {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async id(): Promise<string> {
    return (this.#tables.installationId ??= crypto.randomUUID().replaceAll("-", ""));
  }

  async usesContainers(): Promise<boolean> {
    return this.#tables.usesContainers;
  }

  async noteContainers(): Promise<void> {
    this.#tables.usesContainers = true;
  }

  async claim({ organization, user, token, tokenFingerprint }: FirstOwner): Promise<boolean> {
    const { organizations, users, members, tokens } = this.#tables;
    if (users.values().some(({ founder }) => founder)) return false;
    const { hasPassword: _, ...row } = copied(user);
    organizations.set(organization.id, copied(organization));
    users.set(user.id, { ...row, founder: true, passwordHash: null });
    members.set(memberKey(organization.id, user.id), {
      organizationId: organization.id,
      userId: user.id,
      role: "owner",
      grants: [],
      createdAt: new Date(organization.createdAt),
    });
    tokens.set(token.id, { token: copied(token), fingerprint: tokenFingerprint, revokedAt: null });
    this.#tables.founderTokenId = token.id;
    return true;
  }

  async founder(): Promise<User | undefined> {
    return userOf(this.#tables.users.values().find(({ founder }) => founder));
  }

  async organizationId(): Promise<string | undefined> {
    const { founderTokenId, tokens } = this.#tables;
    return founderTokenId === undefined ? undefined : tokens.get(founderTokenId)?.token.organizationId;
  }

  async isFounderToken(tokenId: string): Promise<boolean> {
    return this.#tables.founderTokenId === tokenId;
  }

  async replaceFounderToken(tokenFingerprint: string): Promise<boolean> {
    const { members, tokens, founderTokenId } = this.#tables;
    const row = founderTokenId === undefined ? undefined : tokens.get(founderTokenId);
    if (!row || row.fingerprint === tokenFingerprint) return false;
    // A founder who revoked the token regains access with a new one.
    tokens.set(row.token.id, { ...row, fingerprint: tokenFingerprint, revokedAt: null });
    const { organizationId, userId } = row.token;
    const key = memberKey(organizationId, userId);
    if (!members.has(key))
      members.set(key, { organizationId, userId, role: "owner", grants: [], createdAt: new Date() });
    return true;
  }
}

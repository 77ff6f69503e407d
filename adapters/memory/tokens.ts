import type { AccessToken } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";
import { copied } from "./copied.ts";
import type { MemoryTables, TokenRow } from "./memory_tables.ts";
import { BY_CREATION, newestFirst } from "./newest_first.ts";

interface Owner {
  readonly organizationId: string;
  readonly userId: string;
}

/** Keeps access tokens in memory. */
export class MemoryTokens implements Tokens {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async create(token: AccessToken, tokenFingerprint: string): Promise<void> {
    const row = { token: copied(token), fingerprint: tokenFingerprint, revokedAt: null };
    this.#tables.tokens.set(token.id, row);
  }

  async list(owner: Owner, page: Page): Promise<Listing<AccessToken>> {
    const rows = this.#tables.tokens
      .values()
      .filter((row) => belongsTo(row, owner))
      .map(({ token }) => token);
    return newestFirst(rows, page, BY_CREATION);
  }

  async revoke(owner: Owner, id: string): Promise<boolean> {
    const row = this.#tables.tokens.get(id);
    if (!row || !belongsTo(row, owner)) return false;
    this.#tables.tokens.set(id, { ...row, revokedAt: new Date() });
    return true;
  }

  async sweep(before: Date): Promise<number> {
    const { tokens, founderTokenId } = this.#tables;
    const ended = [...tokens.values()]
      .filter(({ token, revokedAt }) => [revokedAt, token.expiresAt].some((end) => end !== null && end < before))
      .filter(({ token }) => token.id !== founderTokenId);
    for (const { token } of ended) tokens.delete(token.id);
    return ended.length;
  }
}

function belongsTo({ token, revokedAt }: TokenRow, owner: Owner): boolean {
  return revokedAt === null && token.organizationId === owner.organizationId && token.userId === owner.userId;
}

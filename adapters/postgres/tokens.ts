import type { AccessToken } from "../../domain/identity/identity.ts";
import type { Listing, Page } from "../../domain/page.ts";
import type { Narrowing } from "../../domain/identity/permission.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import { readPage } from "./read_page.ts";
import type { PostgresSignals } from "./signals.ts";

interface Owner {
  readonly organizationId: string;
  readonly userId: string;
}

interface TokenRow {
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly name: string;
  readonly narrowing: Narrowing | null;
  readonly link: boolean;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

/** Stores access tokens, as fingerprints, in PostgreSQL. */
export class PostgresTokens implements Tokens {
  readonly #database: Database;
  readonly #signals: PostgresSignals;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async create(token: AccessToken, tokenFingerprint: string): Promise<void> {
    const { id, organizationId, userId, name, narrowing, link, createdAt, expiresAt, lastUsedAt } = token;
    await this.#database.run(
      (sql) => sql`
        insert into tokens
          (id, organization_id, user_id, name, narrowing, link, fingerprint, created_at, expires_at, last_used_at)
        values (${id}, ${organizationId}, ${userId}, ${name}, ${jsonValue(sql, narrowing)}, ${link},
          ${tokenFingerprint}, ${createdAt}, ${expiresAt}, ${lastUsedAt})`,
    );
  }

  async list({ organizationId, userId }: Owner, page: Page): Promise<Listing<AccessToken>> {
    return readPage(
      this.#database,
      page,
      (sql) => ({
        columns: sql`id, organization_id, user_id, name, narrowing, link, created_at, expires_at, last_used_at`,
        from: sql`tokens
          where organization_id = ${organizationId} and user_id = ${userId} and revoked_at is null`,
        order: sql`created_at desc, id desc`,
      }),
      toToken,
    );
  }

  async revoke({ organizationId, userId }: Owner, id: string): Promise<boolean> {
    const { count } = await this.#database.run(
      (sql) => sql`
        update tokens set revoked_at = now()
        where id = ${id} and organization_id = ${organizationId} and user_id = ${userId} and revoked_at is null`,
    );
    await this.#signals.settled();
    return count > 0;
  }

  async sweep(before: Date): Promise<number> {
    const { count } = await this.#database.run(
      (sql) => sql`delete from tokens where least(revoked_at, expires_at) < ${before} and not founder_token`,
    );
    return count;
  }
}

function toToken(row: TokenRow): AccessToken {
  const { id, organization_id, user_id, name, narrowing, link, created_at, expires_at, last_used_at } = row;
  return {
    id,
    organizationId: organization_id,
    userId: user_id,
    name,
    narrowing,
    link,
    createdAt: created_at,
    expiresAt: expires_at,
    lastUsedAt: last_used_at,
  };
}

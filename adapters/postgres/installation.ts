import { conflict } from "../../domain/failure.ts";
import type { User } from "../../domain/identity/identity.ts";
import type { FirstOwner, Installation } from "../../ports/identity/installation.ts";
import type { Database } from "./database.ts";
import { jsonValue } from "./json_value.ts";
import type { PostgresSignals } from "./signals.ts";
import { toUser, type UserRow } from "./users.ts";

/** Stores the installation and its first owner in PostgreSQL. */
export class PostgresInstallation implements Installation {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  #usesContainers = false;
  #organizationId: string | undefined;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
  }

  async id(): Promise<string> {
    // The update is a no-op; without it RETURNING would not return an existing row.
    const [row] = await this.#database.run(
      (sql) => sql<{ readonly id: string }[]>`
        insert into installation (id) values (${crypto.randomUUID().replaceAll("-", "")})
        on conflict (only_one) do update set only_one = true returning id`,
    );
    return row!.id;
  }

  async usesContainers(): Promise<boolean> {
    // Cached, because it never becomes false again.
    this.#usesContainers ||= await this.#database.run(async (sql) => {
      const rows = await sql`select 1 from installation where uses_containers`;
      return rows.length > 0;
    });
    return this.#usesContainers;
  }

  async noteContainers(): Promise<void> {
    if (await this.usesContainers()) return;
    await this.id();
    await this.#database.run((sql) => sql`update installation set uses_containers = true`);
    this.#usesContainers = true;
  }

  async claim({ organization, user, token, tokenFingerprint }: FirstOwner): Promise<boolean> {
    const [claimed] = await this.#database.run(
      (sql) => sql`
        with founder as (
          insert into users (id, email, name, founder, created_at)
          values (${user.id}, ${user.email}, ${user.name}, true, ${user.createdAt})
          on conflict do nothing returning id
        ), place as (
          insert into organizations (id, name, slug, created_at)
          select ${organization.id}, ${organization.name}, ${organization.slug}, ${organization.createdAt}::timestamptz
          from founder returning id, created_at
        ), owner as (
          insert into members (organization_id, user_id, role, created_at)
          select place.id, founder.id, 'owner', place.created_at from founder, place
        ), credential as (
          insert into tokens (id, organization_id, user_id, name, narrowing, fingerprint, founder_token, created_at,
            expires_at)
          select ${token.id}, place.id, founder.id, ${token.name}, ${jsonValue(sql, token.narrowing)}::jsonb,
            ${tokenFingerprint}, true, ${token.createdAt}::timestamptz, ${token.expiresAt}::timestamptz
          from founder, place
        )
        select id from founder`,
    );
    await this.#signals.settled();
    return claimed !== undefined;
  }

  async founder(): Promise<User | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<UserRow[]>`
        select id, email, name, founder, password_hash is not null as has_password, created_at
        from users where founder`,
    );
    return row && toUser(row);
  }

  async organizationId(): Promise<string | undefined> {
    // Cached, because it never changes.
    if (this.#organizationId === undefined) {
      const [row] = await this.#database.run(
        (sql) => sql<{ readonly organization_id: string }[]>`
          select organization_id from tokens where founder_token`,
      );
      this.#organizationId = row?.organization_id;
    }
    return this.#organizationId;
  }

  async isFounderToken(tokenId: string): Promise<boolean> {
    const rows = await this.#database.run((sql) => sql`select 1 from tokens where id = ${tokenId} and founder_token`);
    return rows.length > 0;
  }

  async replaceFounderToken(tokenFingerprint: string): Promise<boolean> {
    const { count } = await this.#database.run<{ readonly count: number }>(
      (sql) => sql`
        with replaced as (
          update tokens set fingerprint = ${tokenFingerprint}, revoked_at = null
          where founder_token and fingerprint <> ${tokenFingerprint}
          returning organization_id, user_id
        ), place as (
          insert into members (organization_id, user_id, role, created_at)
          select organization_id, user_id, 'owner', now() from replaced
          on conflict do nothing
        )
        select from replaced`,
      { tokens_fingerprint: tokenTaken },
    );
    await this.#signals.settled();
    return count > 0;
  }
}

function tokenTaken(): never {
  throw conflict("token_taken", "Cannot use SLIPWAY_ADMIN_TOKEN: it is, or was, another token. Choose a new one");
}

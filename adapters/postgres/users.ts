import { conflict } from "../../domain/failure.ts";
import type { User } from "../../domain/identity/identity.ts";
import type { Users } from "../../ports/identity/users.ts";
import type { Database } from "./database.ts";
import { SignalledCache } from "./signalled_cache.ts";
import type { PostgresSignals } from "./signals.ts";

/** A user row as selected here. */
export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly founder: boolean;
  readonly has_password: boolean;
  readonly created_at: Date;
}

/** Stores users in PostgreSQL. */
export class PostgresUsers implements Users {
  readonly #database: Database;
  readonly #signals: PostgresSignals;
  readonly #users: SignalledCache<User | undefined>;

  constructor(database: Database, signals: PostgresSignals) {
    this.#database = database;
    this.#signals = signals;
    this.#users = new SignalledCache(signals, "slipway_users");
  }

  async find(id: string): Promise<User | undefined> {
    return this.#users.get(id, async () => {
      const [row] = await this.#database.run(
        (sql) => sql<UserRow[]>`
          select id, email, name, founder, password_hash is not null as has_password, created_at
          from users where id = ${id}`,
      );
      return row && toUser(row);
    });
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<UserRow[]>`
        select id, email, name, founder, password_hash is not null as has_password, created_at
        from users where email = ${email}`,
    );
    return row && toUser(row);
  }

  async passwordHash(id: string): Promise<string | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<{ password_hash: string | null }[]>`select password_hash from users where id = ${id}`,
    );
    return row?.password_hash ?? undefined;
  }

  async setPasswordHash(id: string, hash: string): Promise<void> {
    await this.#database.run((sql) => sql`update users set password_hash = ${hash} where id = ${id}`);
    await this.#signals.settled();
  }

  async change(id: string, change: { readonly name?: string; readonly email?: string }): Promise<User | undefined> {
    const [row] = await this.#database.run<readonly UserRow[]>(
      (sql) => sql<UserRow[]>`
        update users
        set name = coalesce(${change.name ?? null}, name), email = coalesce(${change.email ?? null}, email)
        where id = ${id}
        returning id, email, name, founder, password_hash is not null as has_password, created_at`,
      { users_email: emailTaken },
    );
    await this.#signals.settled();
    return row && toUser(row);
  }
}

/** Converts a row to a user. */
export function toUser({ id, email, name, founder, has_password, created_at }: UserRow): User {
  return { id, email, name, founder, hasPassword: has_password, createdAt: created_at };
}

function emailTaken(): never {
  throw conflict("email_taken", "Cannot use this e-mail address: it belongs to another user");
}

import { conflict } from "../../domain/failure.ts";
import type { User } from "../../domain/identity/identity.ts";
import type { Users } from "../../ports/identity/users.ts";
import { copied } from "./copied.ts";
import type { MemoryTables, UserRow } from "./memory_tables.ts";

/** Keeps users in memory. */
export class MemoryUsers implements Users {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async find(id: string): Promise<User | undefined> {
    return userOf(this.#tables.users.get(id));
  }

  async findByEmail(email: string): Promise<User | undefined> {
    return userOf(this.#tables.users.values().find((row) => row.email === email));
  }

  async passwordHash(id: string): Promise<string | undefined> {
    return this.#tables.users.get(id)?.passwordHash ?? undefined;
  }

  async setPasswordHash(id: string, hash: string): Promise<void> {
    const row = this.#tables.users.get(id);
    if (row) this.#tables.users.set(id, { ...row, passwordHash: hash });
  }

  async change(id: string, change: { readonly name?: string; readonly email?: string }): Promise<User | undefined> {
    const row = this.#tables.users.get(id);
    if (!row) return undefined;
    const email = change.email ?? row.email;
    if (this.#tables.users.values().some((other) => other.id !== id && other.email === email)) {
      throw conflict("email_taken", "Cannot use this e-mail address: it belongs to another user");
    }
    const changed = { ...row, email, name: change.name ?? row.name };
    this.#tables.users.set(id, changed);
    return userOf(changed);
  }
}

/** Returns a stored user without the password hash. */
export function userOf(row: UserRow | undefined): User | undefined {
  if (!row) return undefined;
  const { passwordHash, ...user } = copied(row);
  return { ...user, hasPassword: passwordHash !== null };
}

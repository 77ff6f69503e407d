import type { User } from "../../domain/identity/identity.ts";

/** Where people are kept. E-mail addresses arrive in their normal form and are unique. */
export interface Users {
  find(id: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** The stored password hash; `undefined` for an unknown user or one without a password. */
  passwordHash(id: string): Promise<string | undefined>;
  setPasswordHash(id: string, hash: string): Promise<void>;
  /** Changes what is given and returns the user; `undefined` for an unknown one. Rejects with a `conflict` failure, code `email_taken`. */
  change(id: string, change: { readonly name?: string; readonly email?: string }): Promise<User | undefined>;
}

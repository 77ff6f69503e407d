import type { User } from "../../domain/identity/identity.ts";

/** Stores users. Email addresses arrive normalized and are unique. */
export interface Users {
  find(id: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** Returns the stored password hash, or `undefined` for an unknown user or one without a password. */
  passwordHash(id: string): Promise<string | undefined>;
  setPasswordHash(id: string, hash: string): Promise<void>;
  /**
   * Changes the given fields and returns the user, or `undefined` for an unknown one. Rejects with a `conflict`
   * failure, code `email_taken`.
   */
  change(id: string, change: { readonly name?: string; readonly email?: string }): Promise<User | undefined>;
}

import type { Secret } from "../../domain/secret.ts";

/** Hashes passwords with argon2id. */
export interface Passwords {
  hash(password: Secret): Promise<string>;
  /** Verifies a password. Against `undefined` it takes as long and returns `false`, so that timing leaks nothing. */
  verify(password: Secret, hash: string | undefined): Promise<boolean>;
}

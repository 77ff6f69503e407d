import type { Secret } from "../../domain/secret.ts";

/** Hashes passwords with argon2id. */
export interface Passwords {
  hash(password: Secret): Promise<string>;
  /** Compares; against `undefined` it works as long and answers `false`, so that time tells nothing. */
  verify(password: Secret, hash: string | undefined): Promise<boolean>;
}

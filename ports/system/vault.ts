import type { Secret } from "../../domain/secret.ts";

/** The place that an encrypted value belongs to. It cannot be decrypted for any other. */
export interface SealedPlace {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

/** Encrypts secrets for storage. */
export interface Vault {
  /** Returns the id of the key that `seal` uses. */
  keyId(): string;
  /** Encrypts for one place. Two calls never return the same text. */
  seal(secret: Secret, place: SealedPlace): Promise<string>;
  /**
   * Decrypts. Rejects with an `unavailable` failure, code `secret_unreadable`, for another place, a modified text or an
   * unknown key.
   */
  open(sealed: string, place: SealedPlace): Promise<Secret>;
}

import type { Secret } from "../../domain/secret.ts";

/** Where a sealed value belongs; it opens nowhere else. */
export interface SealedPlace {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

/** Encrypts secrets for storage. */
export interface Vault {
  /** Names the key that `seal` uses. */
  keyId(): string;
  /** Encrypts for one place; two calls never give the same text. */
  seal(secret: Secret, place: SealedPlace): Promise<string>;
  /** Decrypts; rejects with an `unavailable` failure (code `secret_unreadable`) for another place, a changed text or an unknown key. */
  open(sealed: string, place: SealedPlace): Promise<Secret>;
}

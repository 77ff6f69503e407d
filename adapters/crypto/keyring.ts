import { Failure } from "../../domain/failure.ts";

/** A key that encrypts and decrypts. Its id is the beginning of its SHA-256 hash. */
export interface VaultKey {
  readonly id: string;
  readonly key: CryptoKey;
}

/** The current key, which encrypts, and all keys that decrypt, including the current one. */
export interface Keyring {
  readonly current: VaultKey;
  readonly byId: ReadonlyMap<string, VaultKey>;
}

/** An encoded key, and a description of its source for error messages. */
export interface KeyText {
  readonly text: string;
  readonly origin: string;
}

const KEY_BYTES = 32;

/**
 * Builds a keyring from encoded keys, the current one first. Rejects with an `invalid` failure that names the source of
 * an invalid key.
 */
export async function keyringOf(texts: readonly [KeyText, ...KeyText[]]): Promise<Keyring> {
  const [current, ...previous] = await Promise.all([importKey(texts[0]), ...texts.slice(1).map(importKey)]);
  return { current, byId: new Map([current, ...previous].map((key) => [key.id, key])) };
}

/** Generates a random key, as base64. */
export function newKeyText(): string {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toBase64();
}

async function importKey({ text, origin }: KeyText): Promise<VaultKey> {
  const bytes = decode(text);
  if (bytes?.length !== KEY_BYTES) {
    const sentence = `Cannot use ${origin}: a secret key is ${KEY_BYTES} bytes as base64, 44 characters`;
    throw new Failure("invalid", "invalid_secret_key", sentence);
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { id: digest.toHex().slice(0, 12), key };
}

function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text.trim());
  } catch {
    return undefined;
  }
}

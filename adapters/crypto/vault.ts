import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { SealedPlace, Vault } from "../../ports/vault.ts";
import { type KeySources, loadKeyring } from "./key_file.ts";
import type { Keyring } from "./keyring.ts";

const VERSION = "v1";
const NONCE_BYTES = 12;
const RELOAD_AGAIN_MS = 1_000;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Seals with AES-256-GCM: `v1.<key id>.<nonce>.<ciphertext>`, bound to place and key. */
export class CryptoVault implements Vault {
  readonly #read: () => Promise<Keyring>;
  #keyring: Keyring;
  #reloading: Promise<void> | undefined;
  #reloadedAt = Number.NEGATIVE_INFINITY;

  constructor(keyring: Keyring, read: () => Promise<Keyring> = async () => keyring) {
    this.#keyring = keyring;
    this.#read = read;
  }

  /** Makes a vault of the keys of this installation. */
  static async load(sources: KeySources): Promise<CryptoVault> {
    const read = () => loadKeyring(sources);
    return new CryptoVault(await read(), read);
  }

  keyId(): string {
    return this.#keyring.current.id;
  }

  async seal(secret: Secret, place: SealedPlace): Promise<string> {
    const { id, key } = this.#keyring.current;
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData: boundTo(place, id) },
      key,
      encoder.encode(secret.reveal()),
    );
    return [VERSION, id, iv.toBase64(BASE64URL), new Uint8Array(sealed).toBase64(BASE64URL)].join(".");
  }

  async open(sealed: string, place: SealedPlace): Promise<Secret> {
    const [version, id = "", nonce = "", text = "", ...rest] = sealed.split(".");
    if (version !== VERSION || rest.length > 0) throw unreadable("it is no sealed text");
    if (!this.#keyring.byId.has(id)) await this.#reloadSoon();
    const key = this.#keyring.byId.get(id)?.key;
    if (!key) throw unreadable(`the key ${printable(id)} that seals it is not configured`);
    try {
      const algorithm = { name: "AES-GCM", iv: bytesOf(nonce), additionalData: boundTo(place, id) };
      return new Secret(decoder.decode(await crypto.subtle.decrypt(algorithm, key, bytesOf(text))));
    } catch (cause) {
      throw unreadable("it was changed, or moved from where it belongs", cause);
    }
  }

  /** Reads the keys anew, as another process may have added one; on failure the former ones stay. */
  async reload(): Promise<void> {
    this.#reloading ??= this.#replaceKeyring();
    await this.#reloading;
  }

  async #replaceKeyring(): Promise<void> {
    try {
      this.#keyring = await this.#read();
    } finally {
      this.#reloadedAt = performance.now();
      this.#reloading = undefined;
    }
  }

  /** Reloads for an unknown key, yet not for every row that such a key seals. */
  async #reloadSoon(): Promise<void> {
    if (performance.now() - this.#reloadedAt < RELOAD_AGAIN_MS) return;
    await this.reload().catch(() => {});
  }
}

function boundTo({ table, row, field }: SealedPlace, keyId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encoder.encode(JSON.stringify([table, row, field, keyId])));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  // Base64 has several spellings of the same bytes; only the one that was written counts.
  if (bytes.toBase64(BASE64URL) !== text) throw new Error("not as it was written");
  return bytes;
}

function printable(id: string): string {
  return /^[0-9a-f]{12}$/.test(id) ? id : "of unknown form";
}

function unreadable(reason: string, cause?: unknown): Failure {
  const options = cause === undefined ? {} : { cause };
  return new Failure("unavailable", "secret_unreadable", `Cannot read a stored secret: ${reason}`, options);
}

import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { SealedPlace, Vault } from "../../ports/system/vault.ts";
import { type KeySources, loadKeyring } from "./key_file.ts";
import type { Keyring } from "./keyring.ts";

const VERSION = "v1";
const NONCE_BYTES = 12;
const LOOK_AGAIN_MS = 1_000;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Encrypts with AES-256-GCM as `v1.<key id>.<nonce>.<ciphertext>`, bound to place and key. */
export class CryptoVault implements Vault {
  readonly #read: () => Promise<Keyring>;
  #keyring: Keyring;
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | undefined;
  /** When a key of this id was last looked for and not found. */
  readonly #missing = new Map<string, number>();

  constructor(keyring: Keyring, read: () => Promise<Keyring> = async () => keyring) {
    this.#keyring = keyring;
    this.#read = read;
  }

  /** Creates a vault with the keys of this installation. */
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
    if (version !== VERSION || rest.length > 0) throw unreadable("it is not a sealed value");
    const key = await this.#keyOf(id);
    if (!key) throw unreadable(`the key ${printable(id)} that it is sealed with is not configured`);
    try {
      const algorithm = { name: "AES-GCM", iv: bytesOf(nonce), additionalData: boundTo(place, id) };
      return new Secret(decoder.decode(await crypto.subtle.decrypt(algorithm, key, bytesOf(text))));
    } catch (cause) {
      throw unreadable("it was changed, or moved from where it belongs", cause);
    }
  }

  /** Reloads the keys, as another process may have added one. Keeps the previous ones on failure. */
  reload(): Promise<void> {
    // A read in progress may have begun before the key was added.
    this.#nextReading ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#nextReading = undefined;
        this.#reading = this.#replaceKeyring();
        return this.#reading;
      });
    return this.#nextReading;
  }

  async #replaceKeyring(): Promise<void> {
    this.#keyring = await this.#read();
    this.#missing.clear();
  }

  /** Finds a key, reloading the sources if it is unknown. Looks for a missing key at most once per second. */
  async #keyOf(id: string): Promise<CryptoKey | undefined> {
    const lookedAt = this.#missing.get(id) ?? Number.NEGATIVE_INFINITY;
    if (!this.#keyring.byId.has(id) && performance.now() - lookedAt > LOOK_AGAIN_MS) {
      await this.reload().catch(() => {});
      if (!this.#keyring.byId.has(id)) this.#missing.set(id, performance.now());
    }
    return this.#keyring.byId.get(id)?.key;
  }
}

function boundTo({ table, row, field }: SealedPlace, keyId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encoder.encode(JSON.stringify([table, row, field, keyId])));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  // Base64 encodes the same bytes in several ways. Accepts only the canonical one.
  if (bytes.toBase64(BASE64URL) !== text) throw new Error("not in canonical form");
  return bytes;
}

function printable(id: string): string {
  return /^[0-9a-f]{12}$/.test(id) ? id : "of unknown form";
}

function unreadable(reason: string, cause?: unknown): Failure {
  const options = cause === undefined ? {} : { cause };
  return new Failure("unavailable", "secret_unreadable", `Cannot read a stored secret: ${reason}`, options);
}

import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { fingerprint } from "../../domain/identity/token.ts";
import type { SealedPlace, Vault } from "../../ports/system/vault.ts";

/** Seals without encryption: the text is readable, but opens only unchanged, in its place and with a known key. */
export class MemoryVault implements Vault {
  readonly #key: string;
  readonly #known: ReadonlySet<string>;

  /** Seals with the first key and opens with all of them. A key is its own id. */
  constructor(key: string, ...previous: readonly string[]) {
    this.#key = key;
    this.#known = new Set([key, ...previous]);
  }

  keyId(): string {
    return this.#key;
  }

  async seal(secret: Secret, place: SealedPlace): Promise<string> {
    return sealedText(secret.reveal(), place, { key: this.#key, nonce: crypto.randomUUID() });
  }

  async open(sealed: string, place: SealedPlace): Promise<Secret> {
    const [, key = "", nonce = "", encoded = ""] = sealed.split(".");
    const value = decode(encoded);
    if (!this.#known.has(key) || value === undefined || (await sealedText(value, place, { key, nonce })) !== sealed) {
      throw new Failure("unavailable", "secret_unreadable", "Cannot read a stored secret: check the secret key");
    }
    return new Secret(value);
  }
}

async function sealedText(
  value: string,
  { table, row, field }: SealedPlace,
  { key, nonce }: { readonly key: string; readonly nonce: string },
): Promise<string> {
  const seal = fingerprint(JSON.stringify([table, row, field, key, nonce, value]));
  const encoded = new TextEncoder().encode(value).toBase64({ alphabet: "base64url", omitPadding: true });
  return `memory.${key}.${nonce}.${encoded}.${seal}`;
}

function decode(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(encoded, { alphabet: "base64url" }));
  } catch {
    return undefined;
  }
}

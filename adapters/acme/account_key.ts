import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Secret } from "../../domain/secret.ts";

/** The public part of an account's key, as JSON Web Key. */
interface PublicKey {
  readonly crv: string;
  readonly kty: string;
  readonly x: string;
  readonly y: string;
}

/** What a signed request says besides its payload. */
export interface SignedHeader {
  readonly nonce: string;
  readonly url: string;
  /** The account; absent before it is known, then the key itself is sent. */
  readonly kid?: string;
}

/** The key of an account, which signs every request (JWS with ES256). */
export class AccountKey {
  readonly #private: KeyObject;
  readonly #public: PublicKey;
  /** Identifies the key in proofs. */
  readonly thumbprint: string;

  constructor(key: Secret) {
    this.#private = createPrivateKey(key.reveal());
    const { crv, kty, x, y } = createPublicKey(this.#private).export({ format: "jwk" });
    this.#public = { crv: crv!, kty: kty!, x: x!, y: y! };
    this.thumbprint = createHash("sha256").update(JSON.stringify(this.#public)).digest("base64url");
  }

  /** Returns the body of a signed request. A payload of `null` only reads. */
  sign({ nonce, url, kid }: SignedHeader, payload: unknown): string {
    const identity = kid === undefined ? { jwk: this.#public } : { kid };
    const header = encoded({ alg: "ES256", ...identity, nonce, url });
    const content = payload === null ? "" : encoded(payload);
    const bytes = Buffer.from(`${header}.${content}`);
    const signature = sign("sha256", bytes, { key: this.#private, dsaEncoding: "ieee-p1363" });
    return JSON.stringify({ protected: header, payload: content, signature: signature.toString("base64url") });
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

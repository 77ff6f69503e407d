import type { Secret } from "../secret.ts";

const HEADER = /^sha256=([0-9a-f]{64})$/;
const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/**
 * Returns whether the header `X-Hub-Signature-256` signs these bytes with this secret. An empty secret signs nothing.
 * The comparison takes the same time wherever the signatures differ.
 */
export async function isSigned(bytes: Uint8Array, header: string, secret: Secret): Promise<boolean> {
  const [, hex] = HEADER.exec(header) ?? [];
  const key = new TextEncoder().encode(secret.reveal());
  if (hex === undefined || key.length === 0) return false;
  const imported = await crypto.subtle.importKey("raw", key, HMAC, false, ["verify"]);
  return crypto.subtle.verify(HMAC, imported, Uint8Array.fromHex(hex), bytes as Uint8Array<ArrayBuffer>);
}

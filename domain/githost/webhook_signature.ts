import type { Secret } from "../secret.ts";

const HEADER = /^sha256=([0-9a-f]{64})$/;

/**
 * Returns whether the header `X-Hub-Signature-256` signs these bytes with this secret. An empty secret signs nothing.
 * The comparison takes the same time wherever the signatures differ.
 */
export function isSigned(bytes: Uint8Array, header: string, secret: Secret): boolean {
  const [, given] = HEADER.exec(header) ?? [];
  const key = secret.reveal();
  if (given === undefined || key === "") return false;
  const expected = new Bun.CryptoHasher("sha256", key).update(bytes).digest("hex");
  let difference = 0;
  for (let index = 0; index < expected.length; index++) {
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index);
  }
  return difference === 0;
}

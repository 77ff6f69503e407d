import { fingerprint } from "../../domain/identity/token.ts";

const MAX_LENGTH = 200;

/**
 * Bounds the length of a caller-supplied key so that an index can hold it: replaces a long one with its SHA-256 hash.
 */
export function boundedKey(text: string): string {
  return text.length <= MAX_LENGTH ? text : `sha256:${fingerprint(text)}`;
}

import { fingerprint } from "../../domain/identity/token.ts";

const MAX_LENGTH = 200;

/** Gives a text that callers choose a length that an index can hold: a long one is replaced by its fingerprint. */
export function boundedKey(text: string): string {
  return text.length <= MAX_LENGTH ? text : `sha256:${fingerprint(text)}`;
}

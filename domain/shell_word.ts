import { invalid } from "./failure.ts";

/**
 * Writes a text as one word that a POSIX shell (or fish) reads back as exactly this text. Throws an `invalid` failure for
 * a NUL character, which no argument can hold.
 */
export function shellWord(text: string): string {
  if (text.includes("\0")) {
    throw invalid("invalid_argument", "Cannot pass this argument to a program: it holds a NUL character");
  }
  // fish reads a backslash inside single quotes as an escape; outside them every shell agrees on its meaning.
  return `'${text.replaceAll(/['\\]/g, (character) => `'\\${character}'`)}'`;
}

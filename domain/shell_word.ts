import { invalid } from "./failure.ts";

/**
 * Quotes a string as one word that a POSIX shell (or fish) parses back to exactly this string. Throws an `invalid`
 * failure for a NUL character, which no argument can hold.
 */
export function shellWord(text: string): string {
  if (text.includes("\0")) {
    throw invalid("invalid_argument", "Cannot pass this argument to a program: it contains a NUL character");
  }
  // fish treats a backslash inside single quotes as an escape; outside quotes, all shells agree on its meaning.
  return `'${text.replaceAll(/['\\]/g, (character) => `'\\${character}'`)}'`;
}

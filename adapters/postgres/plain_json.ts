import { withPlainText } from "../../domain/deployments/plain_text.ts";

/** Matches the JSON escapes of NUL characters and of unpaired surrogates. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Serializes a value to one line of JSON that PostgreSQL accepts: replaces characters it cannot store by U+FFFD. */
export function plainJson(value: object): string {
  const text = JSON.stringify(value);
  return UNSTORABLE.test(text) ? JSON.stringify(withPlainText(value)) : text;
}

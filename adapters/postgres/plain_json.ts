import { withPlainText } from "../../domain/deployments/plain_text.ts";

/** How JSON writes a NUL character and halves of surrogate pairs. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Writes a value as JSON on one line that PostgreSQL takes: what no text can hold there becomes U+FFFD. */
export function plainJson(value: object): string {
  const text = JSON.stringify(value);
  return UNSTORABLE.test(text) ? JSON.stringify(withPlainText(value)) : text;
}

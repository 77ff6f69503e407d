const UNSTORABLE = /[\0\uD800-\uDFFF]/;
const FIELD = { configurable: true, enumerable: true, writable: true };

/** Gives text that every store and every reader can hold: NUL characters and halves of surrogate pairs become U+FFFD. */
export function plainText(text: string): string {
  return UNSTORABLE.test(text) ? text.toWellFormed().replaceAll("\0", "\uFFFD") : text;
}

/** Copies a value of plain objects, lists, times and simple values, with every text in it made plain. */
export function withPlainText<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copy);
  if (value === null || typeof value !== "object") return value;
  const copied: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const key = plainText(name);
    const part = (value as Record<string, unknown>)[name];
    // An assignment to it would change what the copy inherits from.
    if (key === "__proto__") Object.defineProperty(copied, key, { ...FIELD, value: copy(part) });
    else copied[key] = copy(part);
  }
  return copied;
}

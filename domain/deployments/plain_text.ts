const UNSTORABLE = /[\0\uD800-\uDFFF]/;
const FIELD = { configurable: true, enumerable: true, writable: true };

/** Replaces NUL characters and lone surrogates by U+FFFD, so that every store and client can hold the string. */
export function plainText(text: string): string {
  return UNSTORABLE.test(text) ? text.toWellFormed().replaceAll("\0", "\uFFFD") : text;
}

/**
 * Applies `plainText` to every string in a value of plain objects, arrays, dates and primitives. A value in which nothing
 * is replaced is returned as it is, others are deep-copied.
 */
export function withPlainText<T>(value: T): T {
  return isPlain(value) ? value : (copy(value) as T);
}

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return !UNSTORABLE.test(value) || (value.isWellFormed() && !value.includes("\0"));
  if (value === null || typeof value !== "object" || value instanceof Date) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const name of Object.keys(value)) {
    if (!isPlain(name) || !isPlain((value as Record<string, unknown>)[name])) return false;
  }
  return true;
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
    // A plain assignment would set the prototype of the copy.
    if (key === "__proto__") Object.defineProperty(copied, key, { ...FIELD, value: copy(part) });
    else copied[key] = copy(part);
  }
  return copied;
}

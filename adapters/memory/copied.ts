const copies = new WeakSet<object>();

/**
 * Deep-copies plain data, so that callers cannot change stored values: records and arrays of the copy are frozen. What
 * is such a copy already is returned as it is; dates, which nothing here sets, are shared then. Anything but records, arrays and dates is passed to `structuredClone()`.
 */
export function copied<T>(value: T): T {
  if (typeof value !== "object" || value === null || copies.has(value)) return value;
  if (value instanceof Date) return new Date(value) as T;
  if (Array.isArray(value)) return kept(value.map(copied)) as T;
  if (Object.getPrototypeOf(value) !== Object.prototype || Object.hasOwn(value, "__proto__"))
    return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = copied((value as Record<string, unknown>)[key]);
  return kept(copy) as T;
}

/** Freezes a copy whose parts cannot be changed either, and remembers it. */
function kept<T extends object>(copy: T): T {
  for (const part of Object.values(copy)) {
    const isFixed = typeof part !== "object" || part === null || part instanceof Date || copies.has(part);
    if (!isFixed) return copy;
  }
  copies.add(Object.freeze(copy));
  return copy;
}

/** Counts the characters of all texts in a value, including its keys. */
export function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + textLength(item), 0);
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + textLength(item), 0);
}

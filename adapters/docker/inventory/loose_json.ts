/** A value of JSON from a machine that is not trusted: any type is possible. */
export type Loose = unknown;

/** Returns an object's fields, or none if the value is no object. */
export function fieldsOf(value: Loose): Readonly<Record<string, Loose>> {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Readonly<Record<string, Loose>>)
    : {};
}

export function textOf(value: Loose): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: Loose): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Returns a number above zero, or `null`: engines report what is not set as 0 or -1. */
export function positiveOf(value: Loose): number | null {
  const number = numberOf(value);
  return number > 0 ? number : null;
}

export function itemsOf(value: Loose): readonly Loose[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the strings of a list; a single string is a list of one. */
export function textsOf(value: Loose): readonly string[] {
  return (typeof value === "string" ? [value] : itemsOf(value)).filter((item) => typeof item === "string");
}

/** Returns the fields of an object that are strings. */
export function textFieldsOf(value: Loose): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Returns whether two values are equal as JSON, with `null`, absent and empty treated alike. */
export function isAlike(one: Loose, other: Loose): boolean {
  return written(one) === written(other);
}

function written(value: Loose): string {
  if (isEmpty(value)) return "";
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns whether a value says nothing: absent, empty, zero or false. */
export function isEmpty(value: Loose): boolean {
  if (value === null || value === undefined || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

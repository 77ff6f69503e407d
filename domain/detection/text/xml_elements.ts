import { type JsonObject, objectOf } from "./json_text.ts";

/** The texts of an element that may be repeated; one with attributes holds its text apart. */
export function textsOf(object: JsonObject | undefined, key: string): string[] {
  if (object === undefined || !Object.hasOwn(object, key)) return [];
  const values: unknown[] = Array.isArray(object[key]) ? object[key] : [object[key]];
  return values.flatMap((value) => {
    const text: unknown = typeof value === "string" ? value : objectOf(value)?.["#text"];
    return typeof text === "string" && text.trim() !== "" ? [text.trim()] : [];
  });
}

/** The elements of a name, of which there may be one or several. */
export function objectsOf(object: JsonObject | undefined, key: string): JsonObject[] {
  if (object === undefined || !Object.hasOwn(object, key)) return [];
  const values: unknown[] = Array.isArray(object[key]) ? object[key] : [object[key]];
  return values.map(objectOf).filter((value) => value !== undefined);
}

/** Every text in an element and those in it, as `name=text`; not below a depth that nobody writes. */
export function valuesIn(object: JsonObject | undefined, depth = 0): string[] {
  if (object === undefined || depth > 8) return [];
  return Object.keys(object).flatMap((key) => [
    ...textsOf(object, key).map((text) => `${key}=${text}`),
    ...objectsOf(object, key).flatMap((inner) => valuesIn(inner, depth + 1)),
  ]);
}

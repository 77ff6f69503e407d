import { type JsonObject, objectOf } from "./json_text.ts";

/** The texts of an element that may be repeated; one with attributes has its text in `#text`. */
export function textsOf(object: JsonObject | undefined, key: string): string[] {
  if (object === undefined || !Object.hasOwn(object, key)) return [];
  const values: unknown[] = Array.isArray(object[key]) ? object[key] : [object[key]];
  return values.flatMap((value) => {
    const text: unknown = typeof value === "string" ? value : objectOf(value)?.["#text"];
    return typeof text === "string" && text.trim() !== "" ? [text.trim()] : [];
  });
}

/** The elements with a name, which may occur once or several times. */
export function objectsOf(object: JsonObject | undefined, key: string): JsonObject[] {
  if (object === undefined || !Object.hasOwn(object, key)) return [];
  const values: unknown[] = Array.isArray(object[key]) ? object[key] : [object[key]];
  return values.map(objectOf).filter((value) => value !== undefined);
}

/** All texts in an element and its descendants, as `name=text`, up to a depth that real files do not exceed. */
export function valuesIn(object: JsonObject | undefined, depth = 0): string[] {
  if (object === undefined || depth > 8) return [];
  return Object.keys(object).flatMap((key) => [
    ...textsOf(object, key).map((text) => `${key}=${text}`),
    ...objectsOf(object, key).flatMap((inner) => valuesIn(inner, depth + 1)),
  ]);
}

/** An object of untrusted JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a JSON object; `undefined` when the text is invalid or not an object. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    // JSON does not allow a byte order mark, but editors write one.
    return objectOf(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}

/** Parses a JSON object that may have comments and trailing commas. */
export function commentedJsonObject(text: string): JsonObject | undefined {
  return jsonObject(text) ?? jsonObject(strict(text));
}

/** Returns the value if it is an object and not an array. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** Returns an own property if it is a string that is not blank. */
export function textOf(object: JsonObject | undefined, key: string): string | undefined {
  if (object === undefined || !Object.hasOwn(object, key)) return undefined;
  const value = object[key];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Returns an own property if it is an object. */
export function memberOf(object: JsonObject | undefined, key: string): JsonObject | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? objectOf(object[key]) : undefined;
}

/** Removes comments and trailing commas. Scans by hand, as regular expressions take quadratic time on hostile texts. */
function strict(text: string): string {
  const kept: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.startsWith("//") || token.startsWith("/*") || token.trim() === "") continue;
    if ((token === "}" || token === "]") && kept.at(-1) === ",") kept.pop();
    kept.push(token);
  }
  return kept.join(" ");
}

const MARK = /["/,:{}[\]\s]/;

/** The end of the string, comment, word, space or mark that begins at `start`. */
function endOfToken(text: string, start: number): number {
  const opening = text.slice(start, start + 2);
  if (opening === "//") return positionAfter(text, "\n", start + 2);
  if (opening === "/*") return positionAfter(text, "*/", start + 2);
  let at = start + 1;
  if (text[start] !== '"') {
    if (!MARK.test(text[start]!)) while (at < text.length && !MARK.test(text[at]!)) at++;
    return at;
  }
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function positionAfter(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found + wanted.length;
}

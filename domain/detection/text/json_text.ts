/** An object of untrusted JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The object in a JSON text; `undefined` when it holds none. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    // A byte order mark is no JSON, but editors write one.
    return objectOf(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}

/** The object in a JSON text in which comments and trailing commas are allowed. */
export function commentedJsonObject(text: string): JsonObject | undefined {
  return jsonObject(text) ?? jsonObject(strict(text));
}

/** The value when it is an object, and not a list. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** A member's own text, when it has one that is not blank. */
export function textOf(object: JsonObject | undefined, key: string): string | undefined {
  if (object === undefined || !Object.hasOwn(object, key)) return undefined;
  const value = object[key];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** A member's own object. */
export function memberOf(object: JsonObject | undefined, key: string): JsonObject | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? objectOf(object[key]) : undefined;
}

/** The text without comments and trailing commas. Scanned by hand: expressions take quadratic time on hostile texts. */
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

/** Where the string, comment, word, space or mark that begins at `start` ends. */
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

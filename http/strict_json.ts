import { invalid } from "../domain/failure.ts";

const MAX_DEPTH = 32;

/**
 * Parses JSON, and refuses input that parsers interpret differently: repeated keys, `__proto__`, extreme nesting, and
 * characters that no store or program accepts.
 */
export function strictJson(text: string): unknown {
  checkStructure(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid("unreadable_body", "Cannot read the body: it is not valid JSON", { cause });
  }
}

function checkStructure(text: string): void {
  const stack: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{" || character === "[") {
      stack.push(character === "{" ? new Set() : undefined);
      if (stack.length > MAX_DEPTH)
        throw invalid("unreadable_body", `Cannot read the body: it nests deeper than ${MAX_DEPTH} levels`);
    } else if (character === "}" || character === "]") {
      stack.pop();
    } else if (character === '"') {
      const end = stringEnd(text, at);
      const keys = stack.at(-1);
      const value = unescaped(text.slice(at, end));
      if (value.includes("\0") || !value.isWellFormed()) throw oddCharacter();
      if (keys && isKey(text, end)) checkKey(keys, value);
      at = end - 1;
    }
  }
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && /\s/.test(text[at]!)) at++;
  return text[at] === ":";
}

function checkKey(keys: Set<string>, key: string): void {
  if (key === "__proto__") throw invalid("unreadable_body", 'Cannot read the body: "__proto__" is not a known field');
  if (keys.has(key)) throw invalid("unreadable_body", "Cannot read the body: an object names a field twice");
  keys.add(key);
}

function oddCharacter() {
  return invalid("unreadable_body", "Cannot read the body: a text in it contains a NUL or half of a surrogate pair");
}

function unescaped(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

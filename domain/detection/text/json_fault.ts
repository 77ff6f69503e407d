/** Why a text is not valid JSON. */
export interface JsonFault {
  /** Counted from 1. */
  readonly line: number;
  /** A clause of a sentence; contains nothing of the text itself. */
  readonly reason: string;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

type Expected = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma" | "end";

/** A string without its closing quote. */
const TEXT = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const SPACE = /[ \t\n\r]*/y;
const WORD = /[^\s,:{}[\]"/]+/y;
const CLOSES: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/**
 * Finds why a text is not valid JSON, and in which line; `undefined` when it is valid. Linear time, as texts are
 * untrusted.
 */
export function jsonFault(text: string): JsonFault | undefined {
  const begin = text.startsWith("\uFEFF") ? 1 : 0;
  const open: string[] = [];
  let expected: Expected = "value";
  let last: Token = { text: "", start: begin, end: begin };
  for (;;) {
    const token = tokenAt(text, last.end);
    if (token === undefined) {
      if (expected === "end") return undefined;
      return faultAt(text, last.start, last.text === "" ? "it is empty" : early(expected, open));
    }
    const wrong = wrongWith(text, token, { expected, last, open });
    if (wrong) return wrong;
    expected = after(token, expected, open);
    last = token;
  }
}

interface Place {
  readonly expected: Expected;
  readonly last: Token;
  readonly open: readonly string[];
}

function wrongWith(text: string, token: Token, { expected, last, open }: Place): JsonFault | undefined {
  const here = (reason: string) => faultAt(text, token.start, reason);
  const { text: word } = token;
  const isClosing = word === "}" || word === "]";
  const closing = CLOSES[open.at(-1) ?? ""];
  if (word.startsWith("//") || word.startsWith("/*")) return here("there is a comment, which JSON does not allow");
  if (isClosing && last.text === ",") return faultAt(text, last.start, `there is a comma before ${word}`);
  if (expected === "end") return here("something follows the last }");
  if (word.startsWith('"') && !isClosedText(word)) return here(badText(text, token));
  if (expected === "comma") {
    if (isClosing) return word === closing ? undefined : here(`there is a ${word} where ${closing} should be`);
    return word === "," ? undefined : faultAt(text, last.start, "a comma is missing after a value");
  }
  if (expected === "colon") return word === ":" ? undefined : here("a colon is missing after a name");
  if (expected.endsWith(word) && isClosing) return undefined;
  if (expected.startsWith("name")) return word.startsWith('"') ? undefined : here("a name is not in double quotes");
  if (word.startsWith("'")) return here("text is in single quotes; use double quotes");
  const isValue = word.startsWith('"') || word === "{" || word === "[" || LITERAL.test(word);
  return isValue ? undefined : here("something is not a JSON value");
}

/** Returns what is expected next, and updates the stack of open brackets. */
function after({ text: word }: Token, expected: Expected, open: string[]): Expected {
  if (word === "{" || word === "[") {
    open.push(word);
    return word === "{" ? "name or }" : "value or ]";
  }
  if (word === ",") return open.at(-1) === "{" ? "name" : "value";
  if (word === ":") return "value";
  if (expected.startsWith("name") && word !== "}") return "colon";
  if (word === "}" || word === "]") open.pop();
  return open.length === 0 ? "end" : "comma";
}

function early(expected: Expected, open: readonly string[]): string {
  const missing = expected === "value" || expected === "colon" ? "a value" : CLOSES[open.at(-1) ?? ""];
  return `it ends too early: ${missing} is missing`;
}

function badText(text: string, { start, end }: Token): string {
  const at = start + matched(TEXT, text, start).length;
  return text[at] === "\\" && at + 1 < end
    ? "there is a \\ in text before a character that must not be escaped"
    : "text is not closed by double quotes";
}

function isClosedText(word: string): boolean {
  return `${matched(TEXT, word, 0)}"` === word;
}

function tokenAt(text: string, from: number): Token | undefined {
  const start = from + matched(SPACE, text, from).length;
  if (start >= text.length) return undefined;
  const end = endOf(text, start);
  return { text: text.slice(start, end), start, end };
}

function endOf(text: string, start: number): number {
  if (text[start] === '"') return endOfText(text, start);
  if (text[start] === "/") return start + 2;
  return start + Math.max(1, matched(WORD, text, start).length);
}

/** An unclosed string ends with its line. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\n") return at;
    if (text[at] === "\\") at++;
  }
  return text.length;
}

function matched(expression: RegExp, text: string, at: number): string {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? "";
}

function faultAt(text: string, at: number, reason: string): JsonFault {
  return { line: text.slice(0, at).split("\n").length, reason };
}

import type { Notation } from "./notation.ts";

/** Splits a command like a POSIX shell: handles quotes and backslashes, expands nothing; `|` and `;` are literal. */
export function shellWords(text: string): Notation<readonly string[]> {
  if (text.includes("\0")) return { wrong: "it contains a NUL character" };
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (/[ \t\r\n]/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (sign === "'" || sign === '"') {
      const quoted = sign === "'" ? singleQuoted(text, at + 1) : doubleQuoted(text, at + 1);
      if (!quoted) return { wrong: `a ${sign} is not closed; close it, or give the command as a list of words` };
      word = (word ?? "") + quoted.inner;
      at = quoted.end;
    } else if (sign === "\\") {
      at += 1;
      if (at === text.length) return { wrong: "it ends with a backslash that escapes nothing" };
      const next = text.charAt(at);
      if (next !== "\n") word = (word ?? "") + next;
    } else word = (word ?? "") + sign;
  }
  if (word !== null) words.push(word);
  return { value: words };
}

interface Quoted {
  readonly inner: string;
  /** Index of the closing quote. */
  readonly end: number;
}

function singleQuoted(text: string, start: number): Quoted | undefined {
  const end = text.indexOf("'", start);
  return end < 0 ? undefined : { inner: text.slice(start, end), end };
}

function doubleQuoted(text: string, start: number): Quoted | undefined {
  let inner = "";
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '"') return { inner, end: at };
    const next = text.charAt(at + 1);
    if (sign === "\\" && next !== "" && '$`"\\\n'.includes(next)) {
      if (next !== "\n") inner += next;
      at += 1;
    } else inner += sign;
  }
  return undefined;
}

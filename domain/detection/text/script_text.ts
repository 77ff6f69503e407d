import { plainPath } from "../plain_names.ts";

/** Removes the comments of a program but leaves strings alone. One linear scan, as texts are untrusted. */
export function codeOf(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const two = text.slice(at, at + 2);
    if (two === "//" || two === "/*") {
      kept.push(text.slice(from, at), " ");
      at = after(text, two === "//" ? "\n" : "*/", at + 2);
      from = at;
    } else at = isQuote(text[at]!) ? endOfString(text, at) : at + 1;
  }
  return kept.join("") + text.slice(from);
}

/** The string value of a property in a program, as in `outDir: "build"`; the first one wins. */
export function settingIn(code: string, name: string): string | undefined {
  return new RegExp(`\\b${name}["']?\\s*:\\s*(["'\`])([^"'\`\\n$]{1,200})\\1`).exec(code)?.[2];
}

/** The value of a property in a program, if it is a path inside the project. */
export function pathIn(code: string, name: string): string | undefined {
  return plainPath(settingIn(code, name));
}

function isQuote(mark: string): boolean {
  return mark === '"' || mark === "'" || mark === "`";
}

/** An unclosed string ends with its line, as it may be an apostrophe in a regular expression. */
function endOfString(text: string, start: number): number {
  const quote = text[start]!;
  const ends = quote === "`" ? quote : `${quote}\n`;
  let at = start + 1;
  while (at < text.length && !ends.includes(text[at]!)) at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function after(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  if (found === -1) return text.length;
  return wanted === "\n" ? found : found + wanted.length;
}

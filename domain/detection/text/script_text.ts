import { plainPath } from "../plain_names.ts";

/** A program's text without its comments, however hostile: scanned once, strings left alone. */
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

/** The text that a program gives a member, as in `outDir: "build"`; the first one counts. */
export function settingIn(code: string, name: string): string | undefined {
  return new RegExp(`\\b${name}["']?\\s*:\\s*(["'\`])([^"'\`\\n$]{1,200})\\1`).exec(code)?.[2];
}

/** A path inside of the project that a program gives a member. */
export function pathIn(code: string, name: string): string | undefined {
  return plainPath(settingIn(code, name));
}

function isQuote(mark: string): boolean {
  return mark === '"' || mark === "'" || mark === "`";
}

/** A string that is not closed ends with its line, as an apostrophe in an expression would. */
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

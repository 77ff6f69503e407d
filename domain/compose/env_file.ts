import { interpolated, type Room } from "./interpolation.ts";

/** How the lines of a file with variables are read. */
export interface EnvReading {
  /** What counts before the file's own lines where a value names a variable. */
  readonly variables: ReadonlyMap<string, string>;
  readonly room: Room;
  /** Every line is `KEY=value`, quotes and `$` only themselves. */
  readonly raw?: boolean;
}

/** What is wrong in a line of a file with variables. */
export interface EnvProblem {
  readonly line: number;
  readonly message: string;
}

const KEY = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*(?:([=:])[ \t]*)?/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", $: "$$" };

/** The variables of a file with lines `KEY=value`, as compose reads it: quotes, comments, `export` and variables in values. */
export function envFile(text: string, reading: EnvReading): { values: Map<string, string>; problems: EnvProblem[] } {
  const values = new Map<string, string>();
  const problems: EnvProblem[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    const content = lines[at]!.trimStart();
    if (content === "" || content.startsWith("#")) continue;
    const [whole, key, sign] = KEY.exec(content) ?? [];
    if (whole === undefined || (sign === undefined && content.slice(whole.length).trim() !== "")) {
      problems.push({ line, message: "Cannot read this line: write it as KEY=value" });
      continue;
    }
    if (sign === undefined) {
      const known = reading.variables.get(key!);
      if (known !== undefined) values.set(key!, known);
      continue;
    }
    if (reading.raw) {
      values.set(key!, content.slice(content.indexOf(sign) + 1));
      continue;
    }
    const read = valueAt(lines, at, content.slice(whole.length));
    at = read.last;
    const value = "wrong" in read ? read : expanded(read, { ...reading, values });
    if ("wrong" in value) problems.push({ line, message: `Cannot read the value of ${key}: ${value.wrong}` });
    else values.set(key!, value.value);
  }
  return { values, problems };
}

interface Read {
  readonly text: string;
  readonly literal: boolean;
  /** The line that it ends in. */
  readonly last: number;
}

function expanded({ text, literal }: Read, known: EnvReading & { readonly values: ReadonlyMap<string, string> }) {
  if (literal) return { value: text };
  const variables = { get: (name: string) => known.variables.get(name) ?? known.values.get(name) };
  return interpolated(text, { variables, room: known.room, unset: () => {} });
}

/** A value that may go on over several lines when it is quoted. */
function valueAt(
  lines: readonly string[],
  at: number,
  begin: string,
): Read | { readonly wrong: string; readonly last: number } {
  const quote = begin[0];
  if (quote !== "'" && quote !== '"') {
    // A comment begins after white space; a sign inside of a word is part of it.
    const comment = begin.startsWith("#") ? 0 : begin.search(/[ \t]#/);
    return { text: (comment < 0 ? begin : begin.slice(0, comment)).trimEnd(), literal: false, last: at };
  }
  let inner = "";
  let rest = begin.slice(1);
  for (let last = at; ;) {
    const end = quote === "'" ? rest.indexOf("'") : unescapedQuote(rest);
    if (end >= 0) {
      const after = rest.slice(end + 1).trim();
      if (after !== "" && !after.startsWith("#")) return { wrong: "something stands after its closing quote", last };
      inner += rest.slice(0, end);
      return { text: quote === "'" ? inner : unescaped(inner), literal: quote === "'", last };
    }
    inner += `${rest}\n`;
    last += 1;
    if (last >= lines.length) return { wrong: `its ${quote} is not closed`, last: at };
    rest = lines[last]!;
  }
}

function unescapedQuote(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([nrt"\\$])/g, (_, sign: string) => ESCAPES[sign] ?? sign);
}

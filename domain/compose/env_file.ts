import { interpolated, type ExpansionBudget, type Variables } from "./interpolation.ts";

/** Options for parsing an env file. */
export interface EnvReading {
  /** Variables that take precedence over the file's own lines where a value refers to one. */
  readonly variables: Variables;
  /** Variables that are looked up after the file's own lines. */
  readonly earlier?: Variables | undefined;
  readonly budget: ExpansionBudget;
  /** Takes each `KEY=value` line literally: quotes and `$` have no special meaning. */
  readonly raw?: boolean;
}

/** A message about a line of an env file. It never shows any part of a value. */
export interface EnvNote {
  readonly line: number;
  readonly message: string;
}

/** A parsed env file. */
export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly EnvNote[];
  readonly warnings: readonly EnvNote[];
}

const KEY = /^(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*(?:([=:])[ \t]*)?/u;
const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "\\": "\\",
  // Interpolation runs afterwards and turns this into a single `$`.
  $: "$$",
};

/** Parses an env file of `KEY=value` lines as compose does: quotes, comments, `export` and variables in values. */
export function envFile(text: string, reading: EnvReading): EnvFile {
  const values = new Map<string, string>();
  const problems: EnvNote[] = [];
  const warnings: EnvNote[] = [];
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
    let misses = false;
    const unset = () => {
      misses = true;
    };
    const value = "wrong" in read ? read : expanded(read, { ...reading, values, unset });
    if (misses) warnings.push({ line, message: `The value of ${key} ${NAMES_UNSET}` });
    if ("wrong" in value) problems.push({ line, message: `Cannot read the value of ${key}: ${value.wrong}` });
    else values.set(key!, value.value);
  }
  return { values, problems, warnings };
}

/** Usually a `$` in a password that was not meant as a variable. */
const NAMES_UNSET =
  'refers to a variable that is not set, so it is empty there. Set it among the variables of the project, or write "$$" for a literal "$"';

interface Read {
  readonly text: string;
  readonly literal: boolean;
  /** The index of the line that the value ends in. */
  readonly last: number;
}

function expanded(
  { text, literal }: Read,
  known: EnvReading & { readonly values: ReadonlyMap<string, string>; readonly unset: () => void },
) {
  if (literal) return { value: text };
  const variables = {
    get: (name: string) => known.variables.get(name) ?? known.values.get(name) ?? known.earlier?.get(name),
  };
  return interpolated(text, { variables, budget: known.budget, unset: known.unset });
}

/** Parses a value, which may span several lines when quoted. */
function valueAt(
  lines: readonly string[],
  at: number,
  begin: string,
): Read | { readonly wrong: string; readonly last: number } {
  const quote = begin[0];
  if (quote !== "'" && quote !== '"') {
    // A comment needs a space before its `#`: a value may begin with `#`, such as a colour.
    const comment = begin.indexOf(" #");
    return { text: (comment < 0 ? begin : begin.slice(0, comment)).trimEnd(), literal: false, last: at };
  }
  let inner = "";
  let rest = begin.slice(1);
  for (let last = at; ;) {
    const end = unescapedQuote(rest, quote);
    if (end >= 0) {
      const after = rest.slice(end + 1).trim();
      if (after !== "" && !after.startsWith("#")) return { wrong: "there is text after its closing quote", last };
      inner += rest.slice(0, end);
      const literal = quote === "'";
      return { text: inner.replaceAll(/\\([^])/g, literal ? literalPair : escapedPair), literal, last };
    }
    inner += `${rest}\n`;
    last += 1;
    if (last >= lines.length) return { wrong: `its ${quote} is not closed`, last: at };
    rest = lines[last]!;
  }
}

function unescapedQuote(text: string, quote: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function literalPair(pair: string, sign: string): string {
  return sign === "'" ? sign : pair;
}

function escapedPair(pair: string, sign: string): string {
  return Object.hasOwn(ESCAPES, sign) ? ESCAPES[sign]! : pair;
}

/** One line of a `.dockerignore`. */
export interface IgnorePattern {
  /** Whether it takes back what lines before it left out. */
  readonly exception: boolean;
  /** Cleaned, without the exclamation mark. */
  readonly text: string;
  matches(path: string): boolean;
}

/** What has a meaning in a pattern. */
const WILD = /[*?[\]^\\]/;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;

/** Reads one pattern as Docker does; `undefined` when it is malformed. */
export function ignorePattern(pattern: string): IgnorePattern | undefined {
  const exception = pattern.startsWith("!");
  const text = exception ? pattern.slice(1) : pattern;
  if (text === "") return undefined;
  const matches = matcherOf(text);
  return matches && { exception, text, matches };
}

/** The fixed folder that everything a pattern matches lies in or is; `undefined` when it may match anywhere. */
export function fixedPart({ text }: IgnorePattern): string | undefined {
  const fixed = text.replace(/\/\*\*$/, "").replace(/\/\*$/, "");
  return WILD.test(fixed) ? undefined : fixed;
}

function matcherOf(text: string): ((path: string) => boolean) | undefined {
  if (!WILD.test(text)) return (path) => path === text;
  const leading = /^\*\*(.*)$/s.exec(text)?.[1];
  // Docker takes these two by their letters: `**foo` leaves out `barfoo` too, and `foo**` what begins with it.
  if (leading !== undefined && !WILD.test(leading)) {
    return (path) => path.endsWith(leading) || (leading.startsWith("/") && path === leading.slice(1));
  }
  const trailing = /^(.*)\*\*$/s.exec(text)?.[1];
  if (trailing !== undefined && !WILD.test(trailing)) return (path) => path.startsWith(trailing);
  const source = expression(text);
  if (source === undefined) return undefined;
  const regex = new RegExp(`^${source}$`, "su");
  return (path) => regex.test(path);
}

function expression(text: string): string | undefined {
  const characters = [...text];
  let source = "";
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "*" && characters[at + 1] === "*") {
      at += characters[at + 2] === "/" ? 2 : 1;
      source += at + 1 === characters.length ? ".*" : "(.*/)?";
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[") {
      const found = characterClass(characters, at + 1);
      if (found === undefined) return undefined;
      source += found.source;
      at = found.end;
    } else if (character === "\\") {
      const next = characters[++at];
      if (next === undefined) return undefined;
      source += literal(next);
    } else source += literal(character);
  }
  return source;
}

/** A class after its bracket, up to the closing one. */
function characterClass(characters: readonly string[], start: number): { source: string; end: number } | undefined {
  const negated = characters[start] === "^";
  let at = negated ? start + 1 : start;
  let ranges = "";
  const single = () => {
    const escaped = characters[at] === "\\";
    const character = characters[escaped ? at + 1 : at];
    if (character === undefined || (!escaped && (character === "-" || character === "]"))) return undefined;
    at += escaped ? 2 : 1;
    return character;
  };
  while (characters[at] !== "]" || ranges === "") {
    const low = single();
    if (low === undefined) return undefined;
    if (characters[at] === "-") at++;
    else {
      ranges += inClass(low);
      continue;
    }
    const high = single();
    if (high === undefined || high.codePointAt(0)! < low.codePointAt(0)!) return undefined;
    ranges += `${inClass(low)}-${inClass(high)}`;
  }
  return { source: `[${negated ? "^" : ""}${ranges}]`, end: at };
}

function literal(character: string): string {
  return SYNTAX.test(character) ? `\\${character}` : character;
}

function inClass(character: string): string {
  return character === "-" ? "\\-" : literal(character);
}

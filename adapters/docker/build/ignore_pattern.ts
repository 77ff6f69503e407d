/** One line of a `.dockerignore`. */
export interface IgnorePattern {
  /** Whether it includes again what earlier lines ignored. */
  readonly exception: boolean;
  /** Normalized, without the exclamation mark. */
  readonly text: string;
  matches(path: string): boolean;
}

/** Characters with a special meaning in a pattern. */
const WILD = /[*?[\]^\\]/;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;

/** Parses one pattern as Docker does; `undefined` if it is malformed. */
export function ignorePattern(pattern: string): IgnorePattern | undefined {
  const exception = pattern.startsWith("!");
  const text = exception ? pattern.slice(1) : pattern;
  if (text === "") return undefined;
  const matches = matcherOf(text);
  return matches && { exception, text, matches };
}

/**
 * Returns the fixed path that contains or equals everything a pattern matches; `undefined` if it may match anywhere.
 */
export function fixedPart({ text }: IgnorePattern): string | undefined {
  const fixed = text.replace(/\/\*\*$/, "").replace(/\/\*$/, "");
  return WILD.test(fixed) ? undefined : fixed;
}

function matcherOf(text: string): ((path: string) => boolean) | undefined {
  if (!WILD.test(text)) return (path) => path === text;
  const leading = /^\*\*(.*)$/s.exec(text)?.[1];
  // Docker matches these two as suffix and prefix: `**foo` ignores `barfoo` too, and `foo**` whatever begins with it.
  if (leading !== undefined && !WILD.test(leading)) {
    return (path) => path.endsWith(leading) || (leading.startsWith("/") && path === leading.slice(1));
  }
  const trailing = /^(.*)\*\*$/s.exec(text)?.[1];
  if (trailing !== undefined && !WILD.test(trailing)) return (path) => path.startsWith(trailing);
  const places = placesOf(text);
  return places && ((path) => fits(places, path));
}

/** A state of the pattern's NFA: which characters it accepts, and whether it accepts any number of them. */
interface Place {
  takes(character: string): boolean;
  readonly many?: boolean;
  /** The first of two states that together match whole folders, or nothing. */
  readonly folders?: boolean;
}

const ONE: Place = { takes: isPart };
const SOME: Place = { takes: isPart, many: true };
const ANYTHING: Place = { takes: () => true, many: true };
const FOLDERS: Place = { takes: () => true, folders: true };

function isPart(character: string): boolean {
  return character !== "/";
}

function placesOf(text: string): Place[] | undefined {
  const characters = [...text];
  const places: Place[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "*" && characters[at + 1] === "*") {
      at += characters[at + 2] === "/" ? 2 : 1;
      places.push(...(at + 1 === characters.length ? [ANYTHING] : [FOLDERS, ANYTHING]));
    } else if (character === "*") places.push(SOME);
    else if (character === "?") places.push(ONE);
    else if (character === "[") {
      const found = characterClass(characters, at + 1);
      if (found === undefined) return undefined;
      places.push({ takes: (taken) => found.regex.test(taken) });
      at = found.end;
    } else {
      const meant = character === "\\" ? characters[++at] : character;
      if (meant === undefined) return undefined;
      places.push({ takes: (taken) => taken === meant });
    }
  }
  return places;
}

/**
 * Simulates the pattern as an NFA, following all states at once: backtracking could take exponential time, and patterns
 * are untrusted.
 */
function fits(places: readonly Place[], path: string): boolean {
  let now = new Set<number>();
  enter(places, now, 0);
  for (const character of path) {
    const next = new Set<number>();
    for (const at of now) {
      const place = places[at];
      if (!place?.takes(character)) continue;
      if (place.folders) {
        next.add(at + 1);
        if (character === "/") enter(places, next, at + 2);
      } else if (!place.many) enter(places, next, at + 1);
      else if (!places[at - 1]?.folders) enter(places, next, at);
      else {
        next.add(at);
        if (character === "/") enter(places, next, at + 1);
      }
    }
    if (next.size === 0) return false;
    now = next;
  }
  return now.has(places.length);
}

/** Enters a state, and those after it that are reachable without a character. */
function enter(places: readonly Place[], reached: Set<number>, from: number): void {
  for (let at = from; !reached.has(at);) {
    reached.add(at);
    const place = places[at];
    if (place?.folders) at += 2;
    else if (place?.many) at++;
    else return;
  }
}

/** Parses a character class from after its opening bracket up to the closing one. */
function characterClass(characters: readonly string[], start: number): { regex: RegExp; end: number } | undefined {
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
  return { regex: new RegExp(`^[${negated ? "^" : ""}${ranges}]$`, "su"), end: at };
}

function inClass(character: string): string {
  return character === "-" || SYNTAX.test(character) ? `\\${character}` : character;
}

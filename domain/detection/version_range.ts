/** The versions of a language that have images, as lines: `22` or `3.12`. */
export interface KnownVersions {
  /** Newest first. */
  readonly lines: readonly string[];
  /** The default where a project does not choose. */
  readonly preset: string;
}

type Version = readonly [major: number, minor: number, patch: number];
/** From the first, inclusive, to the second, exclusive. */
type Interval = readonly [from: Version, to: Version];
/** The versions in `within` but in none of `without`. */
interface Range {
  readonly within: Interval;
  readonly without: readonly Interval[];
}

const END: Version = [Number.MAX_SAFE_INTEGER, 0, 0];
const ALL: Interval = [[0, 0, 0], END];
const SIGN = /^(?:\^|~>|~=|~|>=|<=|===|==|!=|>|<|=)?/;
const NUMBERS = /^v?(\d{1,6}|[xX*])(?:\.(\d{1,6}|[xX*]))?(?:\.(\d{1,6}|[xX*]))?(?:[.+_-]?[A-Za-z0-9*][\w.*+-]*)?$/;
const EXACT = /^[=v]*\s*(\d{1,4}(?:\.\d{1,4}){0,2})$/;
const MAX_LENGTH = 200;

/**
 * Resolves `wanted`, an exact version or a range in the syntax of npm, Cargo, Bundler or Python: returns an exact
 * version unchanged, the preset if it fits, else the newest line that fits; `undefined` when none does.
 */
export function versionFor(wanted: string, { lines, preset }: KnownVersions): string | undefined {
  const text = wanted.trim().slice(0, MAX_LENGTH);
  const exact = EXACT.exec(text)?.[1];
  if (exact !== undefined) return exact;
  const ranges = rangesOf(text);
  const ordered = [preset, ...lines];
  // An image of a line has its newest version, so a line that ends within the range beats one that only begins there.
  return ordered.find((line) => ranges.some((range) => admits(range, line, "whole"))) ?? ordered.find(fits);

  function fits(line: string): boolean {
    return ranges.some((range) => admits(range, line, "part"));
  }
}

/**
 * Returns whether a version, or some version of a line, satisfies `wanted`; false when `wanted` contains no versions.
 */
export function isWanted(version: string, wanted: string): boolean {
  return rangesOf(wanted.trim().slice(0, MAX_LENGTH)).some((range) => admits(range, version, "part"));
}

/**
 * Converts a Composer range to the syntax of `versionFor`: in Composer one `|` means "or", and `~8.1` lets the minor
 * version grow.
 */
export function composerRange(written: string): string {
  return written
    .slice(0, MAX_LENGTH)
    .replaceAll(/\|+/g, "||")
    .replaceAll(/~(?![>=])/g, "~>")
    .replaceAll(/@[a-z]+/gi, "");
}

function admits({ within, without }: Range, version: string, how: "whole" | "part"): boolean {
  const line = lineOf(version);
  if (line === undefined || without.some((hole) => covers(hole, line))) return false;
  return how === "part" ? overlaps(within, line) : overlaps(within, line) && compare(line[1], within[1]) <= 0;
}

function rangesOf(text: string): Range[] {
  return text.split("||").flatMap((part) => rangeOf(part) ?? []);
}

function rangeOf(written: string): Range | undefined {
  const between = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(written);
  const text = between ? `>=${between[1]} <=${between[2]}` : written;
  const parts = text
    .replaceAll(/([<>=~^!])\s+/g, "$1")
    // Two comparisons may be adjacent: `>=3.8<4.0`.
    .replaceAll(/([\w*])([<>=~^!])/g, "$1 $2")
    .split(/[\s,]+/)
    .filter((part) => part !== "");
  let [from, to] = ALL;
  const without: Interval[] = [];
  for (const part of parts) {
    const one = comparator(part);
    if (one === undefined) return undefined;
    if (part.startsWith("!")) without.push(one);
    else {
      if (compare(one[0], from) > 0) from = one[0];
      if (compare(one[1], to) < 0) to = one[1];
    }
  }
  return compare(from, to) < 0 ? { within: [from, to], without } : undefined;
}

function comparator(part: string): Interval | undefined {
  const sign = SIGN.exec(part)![0];
  const match = NUMBERS.exec(part.slice(sign.length));
  if (match === null) return undefined;
  const numbers = numbersOf(match.slice(1));
  const start: Version = [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
  const [major, minor, patch] = start;
  if (numbers.length === 0) return ALL;
  const afterMajor: Version = [major + 1, 0, 0];
  const afterMinor: Version = [major, minor + 1, 0];
  const after =
    numbers.length === 1 ? afterMajor : numbers.length === 2 ? afterMinor : ([major, minor, patch + 1] as const);
  switch (sign) {
    case "^":
      return [start, major > 0 || numbers.length === 1 ? afterMajor : afterMinor];
    case "~":
      return [start, numbers.length === 1 ? afterMajor : afterMinor];
    // In Ruby and Python, the last given number may grow.
    case "~>":
    case "~=":
      return [start, numbers.length === 3 ? afterMinor : afterMajor];
    case ">=":
      return [start, END];
    case ">":
      return [after, END];
    case "<":
      return [[0, 0, 0], start];
    case "<=":
      return [[0, 0, 0], after];
    default:
      return [start, after];
  }
}

/** The numbers before the first wildcard or missing part. */
function numbersOf(written: readonly (string | undefined)[]): number[] {
  const open = written.findIndex((part) => part === undefined || !/^\d/.test(part));
  return written.slice(0, open === -1 ? written.length : open).map(Number);
}

function lineOf(version: string): Interval | undefined {
  return EXACT.test(version) ? comparator(version) : undefined;
}

function covers(a: Interval, b: Interval): boolean {
  return compare(a[0], b[0]) <= 0 && compare(b[1], a[1]) <= 0;
}

function overlaps(a: Interval, b: Interval): boolean {
  return compare(a[0], b[1]) < 0 && compare(b[0], a[1]) < 0;
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

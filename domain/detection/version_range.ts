/** The versions of a language that images are made of, as lines: `22` or `3.12`. */
export interface KnownVersions {
  /** Newest first. */
  readonly lines: readonly string[];
  /** Taken where a project leaves the choice. */
  readonly preset: string;
}

type Version = readonly [major: number, minor: number, patch: number];
/** From the first inclusively to the second exclusively. */
type Interval = readonly [from: Version, to: Version];

const END: Version = [Number.MAX_SAFE_INTEGER, 0, 0];
const PART = /^(\^|~>|~=|~|>=|<=|==|===|>|<|=)?\s*v?(\d{1,6}|[xX*])(?:\.(\d{1,6}|[xX*]))?(?:\.(\d{1,6}|[xX*]))?/;
const EXACT = /^[=v]*\s*(\d{1,4}(?:\.\d{1,4}){0,2})$/;
const MAX_LENGTH = 200;

/**
 * The version to use where a project asks for `wanted`, an exact version or a range as npm, Composer, Cargo and Python write them: an exact one as it is,
 * the preset when it fits, else the newest line that fits; `undefined` when nothing known does.
 */
export function versionFor(wanted: string, { lines, preset }: KnownVersions): string | undefined {
  const text = wanted.trim().slice(0, MAX_LENGTH);
  const exact = EXACT.exec(text)?.[1];
  if (exact !== undefined) return exact;
  const intervals = text
    .split("||")
    .map(intervalOf)
    .filter((interval) => interval !== undefined);
  const fits = (line: string) => intervals.some((interval) => overlaps(interval, lineOf(line)));
  return fits(preset) ? preset : lines.find(fits);
}

function intervalOf(range: string): Interval | undefined {
  const between = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(range);
  const text = between ? `>=${between[1]} <=${between[2]}` : range;
  const parts = text
    .replaceAll(/([<>=~^])\s+/g, "$1")
    .split(/[\s,]+/)
    .filter((part) => part !== "");
  let [from, to]: Interval = [[0, 0, 0], END];
  for (const part of parts) {
    const one = comparator(part);
    if (one === undefined) return undefined;
    if (compare(one[0], from) > 0) from = one[0];
    if (compare(one[1], to) < 0) to = one[1];
  }
  return compare(from, to) < 0 ? [from, to] : undefined;
}

function comparator(part: string): Interval | undefined {
  const match = PART.exec(part);
  if (match === null) return undefined;
  const [, sign = "", ...written] = match;
  const numbers = written.filter((number) => number !== undefined && /^\d/.test(number)).map(Number);
  const start: Version = [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
  const [major, minor, patch] = start;
  if (numbers.length === 0) return [start, END];
  const afterMajor: Version = [major + 1, 0, 0];
  const afterMinor: Version = [major, minor + 1, 0];
  const after =
    numbers.length === 1 ? afterMajor : numbers.length === 2 ? afterMinor : ([major, minor, patch + 1] as const);
  switch (sign) {
    case "^":
      return [start, major > 0 || numbers.length === 1 ? afterMajor : afterMinor];
    case "~":
      return [start, numbers.length === 1 ? afterMajor : afterMinor];
    // In Ruby and Python the last number given may grow.
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

function lineOf(line: string): Interval {
  const [major = 0, minor] = line.split(".").map(Number);
  return minor === undefined
    ? [
        [major, 0, 0],
        [major + 1, 0, 0],
      ]
    : [
        [major, minor, 0],
        [major, minor + 1, 0],
      ];
}

function overlaps(a: Interval, b: Interval): boolean {
  return compare(a[0], b[1]) < 0 && compare(b[0], a[1]) < 0;
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

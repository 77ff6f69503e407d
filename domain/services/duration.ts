import type { Notation } from "./notation.ts";

const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)/g;
const WHOLE = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|ns))+$/;
const LONGEST_MS = 365 * 24 * 3_600_000;

/** Parses a duration such as `30s`, `1m30s` or `500ms` to milliseconds; a number is in seconds. */
export function durationMs(given: string | number): Notation<number> {
  const ms = typeof given === "number" ? given * 1_000 : spelled(given.trim());
  if (ms === undefined || !Number.isFinite(ms) || ms < 0)
    return { wrong: "give a time with its unit, such as 30s, 1m30s or 500ms" };
  if (ms > LONGEST_MS) return { wrong: "give a time of at most a year" };
  return { value: Math.round(ms) };
}

function spelled(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > 100 || !WHOLE.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit!] ?? 0), 0);
}

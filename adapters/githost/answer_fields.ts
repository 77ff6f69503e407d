import { UnusableAnswer } from "./host_fetch.ts";

const LONGEST = 10_000;

/** Returns a text of an answer. Throws `UnusableAnswer` for anything else. */
export function textIn(value: unknown): string {
  if (typeof value === "string" && value.length <= LONGEST) return value;
  throw new UnusableAnswer("a text in its answer is none");
}

/** Returns a text of an answer, or `null` where there is none. */
export function optionalTextIn(value: unknown): string | null {
  return value === null || value === undefined ? null : textIn(value);
}

/** Returns a whole number of an answer that is not negative. Throws `UnusableAnswer` for anything else. */
export function numberIn(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new UnusableAnswer("a number in its answer is none");
}

/** Returns an address that browsers and git may open. Throws `UnusableAnswer` for anything else. */
export function addressIn(value: unknown): string {
  const address = textIn(value);
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return address;
  throw new UnusableAnswer("an address in its answer is none of the web");
}

/** Returns a time of an answer, or `null` where there is none. Throws `UnusableAnswer` for anything else. */
export function timeIn(value: unknown): Date | null {
  const text = optionalTextIn(value);
  if (!text) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UnusableAnswer("a time in its answer is none");
  return time;
}

/** Returns a number of seconds within limits; anything that is no number counts as the preset. */
export function secondsIn(
  value: unknown,
  { least, most, preset }: Record<"least" | "most" | "preset", number>,
): number {
  const seconds = typeof value === "number" && !Number.isNaN(value) ? value : preset;
  return Math.ceil(Math.min(Math.max(seconds, least), most));
}

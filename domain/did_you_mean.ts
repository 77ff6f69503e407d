import { nearestWord } from "./nearest_word.ts";

const SHORTEST = 2;
const LONGEST = 40;

/** Returns the suffix ` (did you mean "port"?)` for an error message, or "" if no known word is close. */
export function didYouMean(given: unknown, known: readonly string[]): string {
  if (typeof given !== "string" || given.length < SHORTEST || given.length > LONGEST) return "";
  const meant = nearestWord(given, known) ?? abbreviated(given, known);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

/** Returns the only known word that the given one abbreviates as prefix or last part: `prod` is `production`. */
function abbreviated(given: string, known: readonly string[]): string | undefined {
  const short = given.toLowerCase();
  const longer = known.filter((word) => {
    const lower = word.toLowerCase();
    return lower.startsWith(short) || lower.endsWith(`_${short}`);
  });
  return longer.length === 1 ? longer[0] : undefined;
}

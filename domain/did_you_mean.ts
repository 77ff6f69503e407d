import { nearestWord } from "./nearest_word.ts";

const SHORTEST = 2;
const LONGEST = 40;

/** The question to put behind a refusal, ` (did you mean "port"?)`, when one of the known words is near to the given one; else empty. */
export function didYouMean(given: unknown, known: readonly string[]): string {
  if (typeof given !== "string" || given.length < SHORTEST || given.length > LONGEST) return "";
  const meant = nearestWord(given, known) ?? abbreviated(given, known);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

/** The only known word that begins or ends like a shorter one: `prod` is `production`. */
function abbreviated(given: string, known: readonly string[]): string | undefined {
  const short = given.toLowerCase();
  const longer = known.filter((word) => {
    const lower = word.toLowerCase();
    return lower.startsWith(short) || lower.endsWith(`_${short}`);
  });
  return longer.length === 1 ? longer[0] : undefined;
}

/** One range of an `Accept` header, such as `text/*;q=0.5`. */
interface MediaRange {
  readonly type: string;
  readonly quality: number;
  /** Its position in the header. */
  readonly index: number;
}

/**
 * Content negotiation: chooses one of the offered media types by an `Accept` header. The highest quality wins, then the
 * most specific range, then the first one in the header, then the first one offered. The first one offered is also the
 * default, when the header is missing, invalid or accepts none of them.
 */
export function preferredMedia(accept: string | null, offered: readonly [string, ...string[]]): string {
  const ranges = rangesOf(accept ?? "");
  const matches = offered.flatMap((type) => {
    const range = mostSpecific(type, ranges);
    return range && range.quality > 0 ? [{ type, range }] : [];
  });
  const [best] = matches.toSorted(
    (a, b) =>
      b.range.quality - a.range.quality ||
      specificity(b.range.type) - specificity(a.range.type) ||
      a.range.index - b.range.index,
  );
  return best?.type ?? offered[0];
}

/** Returns the most specific range that matches a type, which determines its quality. */
function mostSpecific(type: string, ranges: readonly MediaRange[]): MediaRange | undefined {
  const covering = ranges.filter((range) => covers(range.type, type));
  return covering.toSorted((a, b) => specificity(b.type) - specificity(a.type))[0];
}

function covers(range: string, type: string): boolean {
  return range === "*/*" || range === type || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

function specificity(range: string): number {
  if (range === "*/*") return 0;
  return range.endsWith("/*") ? 1 : 2;
}

function rangesOf(accept: string): MediaRange[] {
  return splitUnquoted(accept, ",").flatMap((part, index) => {
    const [type = "", ...parameters] = splitUnquoted(part, ";").map((piece) => piece.trim().toLowerCase());
    const quality = qualityOf(parameters);
    return quality === undefined || type === "" ? [] : [{ type, quality, index }];
  });
}

/** Returns the weight of a range, or `undefined` when it is invalid by RFC 9110. */
function qualityOf(parameters: readonly string[]): number | undefined {
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (weight === undefined) return 1;
  return /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : undefined;
}

/** Splits at a separator outside of quoted strings. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === "\\") at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Markers of line comments in different languages. */
export type CommentMark = "//" | "#" | "--" | ";" | "%";

/** Longer than any hand-written build file. */
const MAX_LENGTH = 262_144;

/**
 * Removes lines that are only comments, so that commented-out settings do not count. Cuts off texts longer than any
 * hand-written one.
 */
export function withoutComments(text: string, mark: CommentMark): string {
  const kept: string[] = [];
  let inBlock = false;
  for (const line of text.slice(0, MAX_LENGTH).split("\n")) {
    const start = line.trimStart();
    if (inBlock) {
      inBlock = !line.includes("*/");
      continue;
    }
    if (start.startsWith(mark)) continue;
    // Only at the start of a line: elsewhere `/*` is part of glob patterns.
    if (mark === "//" && start.startsWith("/*")) {
      inBlock = !line.includes("*/");
      continue;
    }
    kept.push(line);
  }
  return kept.join("\n");
}

/** Returns the first capture group of the first expression that matches. */
export function matched(text: string, ...expressions: readonly RegExp[]): string | undefined {
  for (const expression of expressions) {
    const found = expression.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The value of a key in `key=value` lines, as in Java properties and shell settings. */
export function property(text: string, key: string): string | undefined {
  for (const line of text.split("\n")) {
    const split = line.indexOf("=");
    if (split !== -1 && line.slice(0, split).trim() === key) return line.slice(split + 1).trim() || undefined;
  }
  return undefined;
}

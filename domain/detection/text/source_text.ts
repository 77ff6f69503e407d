/** Marks that begin a comment up to the end of a line, by how a language is written. */
export type CommentMark = "//" | "#" | "--" | ";" | "%";

/** Longer than any build file that a person writes. */
const MAX_LENGTH = 262_144;

/** A source without the lines that are comments alone, so that what is commented out does not count; only the beginning of one that no person wrote. */
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
    // Only at the start of a line: elsewhere these signs stand in patterns of file names.
    if (mark === "//" && start.startsWith("/*")) {
      inBlock = !line.includes("*/");
      continue;
    }
    kept.push(line);
  }
  return kept.join("\n");
}

/** The first group of the first expression that matches. */
export function matched(text: string, ...expressions: readonly RegExp[]): string | undefined {
  for (const expression of expressions) {
    const found = expression.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The value of a key in a file of `key=value` lines, as Java's properties and shell settings have them. */
export function property(text: string, key: string): string | undefined {
  for (const line of text.split("\n")) {
    const split = line.indexOf("=");
    if (split !== -1 && line.slice(0, split).trim() === key) return line.slice(split + 1).trim() || undefined;
  }
  return undefined;
}
